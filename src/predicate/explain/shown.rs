//! A value, cut to what fits on a line.

use cel::common::types::{CelBool, CelBytes, CelDouble, CelInt, CelString, CelType, CelUInt, Kind};
use cel::common::value::{CowVal, Val};

use crate::canon::{Object, Value};
use crate::predicate::meter;
use crate::predicate::metered::engine;

/// How many characters of a value are shown, more or less.
const ROOM: usize = 80;
/// What a number, or the beginning of an element, takes of them.
const SMALL: usize = 2;
/// How deep lists and maps inside each other are shown.
const MAX_DEPTH: usize = 8;

/// A value, as much of it as fits on a line.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    /// The name of its type in CEL.
    pub ty: String,
    /// Its beginning, as JSON has it; all of it if `size` is absent. Points and lengths of time are
    /// texts, bytes are base64, and a number that JSON lacks is `null`.
    pub value: Value,
    /// How many characters, bytes, elements or entries the whole value has, if it was cut.
    pub size: Option<usize>,
}

impl Shown {
    pub(super) fn of(value: &dyn Val) -> Self {
        // With a meter of its own, so that looking at a value costs the evaluation nothing.
        let shown = meter::metered(&[].into(), || {
            let mut cutter = Cutter { room: ROOM, cut: false };
            let beginning = cutter.value(value, 0);
            (beginning, cutter.cut.then(|| size(value)))
        });
        let (beginning, size) = shown.0.unwrap_or((Value::Null, None));
        Self { ty: name(value), value: beginning, size }
    }
}

fn name(value: &dyn Val) -> String {
    match value.get_type().kind() {
        Kind::Timestamp => "timestamp".to_owned(),
        Kind::Duration => "duration".to_owned(),
        _ => value.get_type().name().to_owned(),
    }
}

fn size(value: &dyn Val) -> usize {
    if let Some(text) = value.downcast_ref::<CelString<'_>>() {
        return text.inner().chars().count();
    }
    if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
        return bytes.inner().len();
    }
    let size = value.as_sizer().map(|sizer| *sizer.size().inner());
    size.and_then(|size| usize::try_from(size).ok()).unwrap_or_default()
}

struct Cutter {
    room: usize,
    cut: bool,
}

impl Cutter {
    fn value(&mut self, value: &dyn Val, depth: usize) -> Value {
        if let Some(text) = value.downcast_ref::<CelString<'_>>() {
            return self.text(text.inner()).into();
        }
        if let Some(bytes) = value.downcast_ref::<CelBytes<'_>>() {
            return self.bytes(bytes.inner()).into();
        }
        match value.get_type().kind() {
            Kind::List | Kind::Map if depth == MAX_DEPTH => {
                self.cut = true;
                "…".into()
            }
            Kind::List => self.list(value, depth).into(),
            Kind::Map => self.map(value, depth).into(),
            Kind::Timestamp | Kind::Duration => in_words(value).into(),
            _ => {
                self.take(SMALL);
                scalar(value)
            }
        }
    }

    fn take(&mut self, room: usize) -> usize {
        let taken = room.min(self.room);
        self.room -= taken;
        taken
    }

    fn text(&mut self, text: &str) -> String {
        let shown: String = text.chars().take(self.room).collect();
        self.cut |= shown.len() < text.len();
        self.take(shown.chars().count());
        shown
    }

    fn bytes(&mut self, bytes: &[u8]) -> String {
        use base64::Engine as _;
        let taken = self.take(bytes.len());
        self.cut |= taken < bytes.len();
        let shown = bytes.get(..taken).unwrap_or_default();
        base64::engine::general_purpose::STANDARD.encode(shown)
    }

    fn list(&mut self, list: &dyn Val, depth: usize) -> Vec<Value> {
        let mut shown = Vec::new();
        let Some(elements) = list.as_iterable() else { return shown };
        let mut elements = elements.iter();
        while let Some(element) = elements.next() {
            if self.take(SMALL) == 0 {
                self.cut = true;
                break;
            }
            shown.push(self.value(element, depth + 1));
        }
        shown
    }

    fn map(&mut self, map: &dyn Val, depth: usize) -> Object {
        let mut shown = Object::new();
        let (Some(keys), Some(values)) = (map.as_iterable(), map.as_indexer()) else {
            return shown;
        };
        let mut keys = keys.iter();
        while let Some(key) = keys.next() {
            if self.take(SMALL) == 0 {
                self.cut = true;
                break;
            }
            let name = match key.downcast_ref::<CelString<'_>>() {
                Some(text) => self.text(text.inner()),
                None => scalar(key).to_string(),
            };
            if let Ok(value) = values.get(key) {
                shown.insert(name, self.value(value.as_ref(), depth + 1));
            }
        }
        shown
    }
}

fn scalar(value: &dyn Val) -> Value {
    if let Some(bool) = value.downcast_ref::<CelBool>() {
        return Value::from(*bool.inner());
    }
    if let Some(int) = value.downcast_ref::<CelInt>() {
        return Value::from(*int.inner());
    }
    if let Some(uint) = value.downcast_ref::<CelUInt>() {
        return Value::from(*uint.inner());
    }
    if let Some(double) = value.downcast_ref::<CelDouble>() {
        return Value::from_float(*double.inner());
    }
    value.downcast_ref::<CelType>().map_or(Value::Null, |ty| Value::from(ty.name()))
}

/// Returns a point or a length of time as `string()` has it.
fn in_words(value: &dyn Val) -> String {
    let args = vec![CowVal::Owned(value.clone_as_boxed())];
    let convert = engine::environment().find_overload("string", &args);
    let text = convert.and_then(|convert| convert(args).ok());
    let text = text.as_ref().and_then(|text| text.downcast_ref::<CelString<'_>>());
    text.map(|text| text.inner().to_owned()).unwrap_or_default()
}
