//! The plugin of `docs/plugin-rust.md`, word for word.

#![allow(missing_docs, missing_debug_implementations, unreachable_pub, clippy::unwrap_used)]

use crisol_sdk::{
    About, Batch, Decimal, Decoder, Failure, JsonRecord, NoOptions, Rejection, Text, Timestamp, decoder, record,
};

record! {
    pub struct Sale<'a> {
        pub sku: Text<'a>,
        pub at: Timestamp,
        pub price: Option<Decimal<18, 2>>,
    }
}

pub struct Sales;

impl Decoder for Sales {
    type Options = NoOptions;
    type Row<'a> = Sale<'a>;
    const ABOUT: About = About::new("sales", env!("CARGO_PKG_VERSION"));

    fn open(_: NoOptions, _: &Batch) -> Result<Self, Failure> {
        Ok(Sales)
    }

    fn decode<'a>(&self, message: &'a str) -> Result<Sale<'a>, Rejection> {
        let sale = Sale::from_json(message)?;
        if sale.sku.is_empty() {
            return Err(Rejection::new("no_sku", "the sku is empty"));
        }
        Ok(sale)
    }
}

decoder!(Sales);

#[cfg(test)]
mod tests {
    use super::*;
    use crisol_sdk::testing::decode_texts;

    #[test]
    fn sales() {
        let outcome = decode_texts::<Sales>(
            "{}",
            &[r#"{"sku": "a-1", "at": "2026-03-14T09:26:53Z", "price": 12.5}"#, r#"{"sku": "a-2", "at": "yesterday"}"#],
        )
        .unwrap();
        assert_eq!(outcome.table(), ["a-1 | 2026-03-14T09:26:53Z | 12.50"]);
        assert_eq!(outcome.reasons(), ["1 corrupt_record: `at`: \"yesterday\" is not a timestamp"]);
    }
}

#[test]
fn the_guide_shows_this_file() {
    let code =
        include_str!("sales.rs").split_once("\n\nuse ").unwrap().1.split_once("\n#[test]\nfn the_guide").unwrap().0;
    assert!(include_str!("../../../docs/plugin-rust.md").contains(code), "docs/plugin-rust.md shows another plugin");
}
