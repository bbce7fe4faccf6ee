//! Connections that are cut in a fetch.

use crisol_tests::{Broker, Proxy};

use crate::bronze::{LONG, long, of, offsets, places};

#[test]
fn k070_connections_that_are_cut_in_a_fetch_lose_and_double_nothing() {
    let proxy = Proxy::listen();
    let broker = Broker::start_with("", &[&format!("PROXIED@{}", proxy.address())]);
    proxy.lead_to(broker.address(1));
    let topic = long(broker.brokers(), "trouble.cut");
    let project = of(&topic);
    let settings = project.path().join("crisol.toml");
    let text = std::fs::read_to_string(&settings).expect("the settings").replace(broker.brokers(), &proxy.address());
    std::fs::write(&settings, text).expect("they can be changed");
    proxy.cut(6, 100_000);
    let output = project.host(&["run"]).succeed();
    assert_eq!(proxy.cuts_left(), 0, "all cuts were made: {output:?}");
    assert_eq!(places(&project), offsets(0, 0..LONG));
}
