mod usd_common;
#[test]
fn out() {
    if let Ok(d) = std::env::var("OUT") {
        let d = std::path::Path::new(&d);
        for e in ["usdc", "usda"] {
            usd_common::write_hair(&d.join(format!("hair.{e}")), 5).unwrap();
            usd_common::write_kinds(&d.join(format!("kinds.{e}"))).unwrap();
        }
    }
}
