//! The macros that make a component of a stage. Natively they do nothing, so tests run without any WebAssembly.

/// Exports a decoder: `decoder!(Orders)` for a stage that works row by row, `decoder!(columns Orders)` for one that
/// works on columns.
#[macro_export]
macro_rules! decoder {
    ($decoder:ident) => {
        $crate::decoder!(columns $crate::rows::Decoding<$decoder>);
    };
    (columns $stage:ty) => {
        $crate::export_rows!($stage, $crate::raw::AsDecoder);
    };
}

/// Exports a transformer: `transformer!(Enrich)` for a stage that works row by row, `transformer!(columns Enrich)` for
/// one that works on columns.
#[macro_export]
macro_rules! transformer {
    ($transformer:ident) => {
        $crate::transformer!(columns $crate::rows::Transforming<$transformer>);
    };
    (columns $stage:ty) => {
        $crate::export_rows!($stage, $crate::raw::AsTransformer);
    };
}

/// Exports a validator: `validator!(Rules)` for one that works row by row, `validator!(columns Rules)` for one that
/// works on columns.
#[macro_export]
macro_rules! validator {
    ($rules:ident) => {
        $crate::validator!(columns $crate::rows::Checking<$rules>);
    };
    (columns $rules:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::raw::Verdicts<$rules>;
            $crate::raw::described::export_description!(Component with_types_in $crate::raw::described);
            $crate::raw::judging::export_verdicts!(Component with_types_in $crate::raw::judging);
        };
    };
}

/// Exports a ranker: `ranker!(Best)` for one that works on records, `ranker!(columns Best)` for one that works on
/// columns.
#[macro_export]
macro_rules! ranker {
    ($ranker:ident) => {
        $crate::ranker!(columns $crate::groups::Ranking<$ranker>);
    };
    (columns $ranker:ty) => {
        $crate::export_groups!($crate::raw::groups::RankSession<$ranker>);
    };
}

/// Exports an aggregator: `aggregator!(Totals)` for one that works on records, `aggregator!(columns Totals)` for one
/// that works on columns.
#[macro_export]
macro_rules! aggregator {
    ($aggregator:ident) => {
        $crate::aggregator!(columns $crate::groups::Aggregating<$aggregator>);
    };
    (columns $aggregator:ty) => {
        $crate::export_groups!($crate::raw::groups::AggregateSession<$aggregator>);
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! export_groups {
    ($session:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::raw::Groups<$session>;
    $crate::raw::described::export_description!(Component with_types_in $crate::raw::described);
    $crate::raw::grouping::export_group!(Component with_types_in $crate::raw::grouping);
        };
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! export_rows {
    ($stage:ty, $kind:ty) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::raw::Rows<$stage, $kind>;
    $crate::raw::described::export_description!(Component with_types_in $crate::raw::described);
    $crate::raw::transforming::export_transform!(Component with_types_in $crate::raw::transforming);
        };
    };
}
