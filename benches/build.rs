//! Says where the source of SQLite is that everything here is built with.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let source = std::env::var("DEP_SQLITE3_INCLUDE").expect("the source of SQLite");
    println!("cargo:rustc-env=SQLITE_SOURCE={source}");
}
