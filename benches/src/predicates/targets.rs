//! What was aimed at, beside what was measured.

/// A figure that was aimed at.
pub struct Target {
    pub what: &'static str,
    /// At most so much.
    pub most: f64,
    pub unit: &'static str,
    /// At least so many times as fast as `cel` in the same run.
    pub ratio: Option<f64>,
}

/// The targets that were measured so far.
#[derive(Default)]
pub struct Targets(Vec<String>);

impl Targets {
    /// Notes what came out, and what `cel` took for the same.
    pub fn note(&mut self, target: &Target, measured: f64, cel: Option<f64>) {
        let Target { what, most, unit, ratio } = target;
        let figure = |value: f64| match unit {
            &"µs" => format!("{:.1} µs", value / 1e3),
            unit => format!("{value:.0} {unit}"),
        };
        let word = |met: bool| if met { "met" } else { "missed" };
        let (wanted, got) = match (ratio, cel) {
            (Some(ratio), Some(cel)) => {
                let got = cel / measured;
                (format!("≥ {ratio:.0} ×"), format!("{got:.0} × ({})", word(got >= *ratio)))
            }
            (_, Some(cel)) => (String::new(), format!("{:.0} ×", cel / measured)),
            _ => (String::new(), String::new()),
        };
        let met = word(measured <= *most);
        self.0.push(format!(
            "| {what} | ≤ {} | {} ({met}) | {wanted} | {got} |",
            figure(*most),
            figure(measured)
        ));
    }

    /// Prints all of them.
    pub fn print(&self) {
        println!("\n| target | wanted | measured | to `cel`: wanted | measured |");
        println!("|---|---:|---:|---:|---:|");
        for line in &self.0 {
            println!("{line}");
        }
    }
}
