//! The macros that make a component of a stage. Natively they do nothing, so tests run without any WebAssembly.
//!
//! Each takes `samples: "PATH"` at its end, one or several, beside the source file: samples that the component carries, and
//! that a host runs before it serves.

/// Exports a decoder: `decoder!(Orders)` for a stage that works row by row, `decoder!(columns Orders)` for one that
/// works on columns. With samples: `decoder!(Orders, samples: "../tests/samples.json")`.
#[macro_export]
macro_rules! decoder {
    ($decoder:ident $(, samples: $($path:literal),+)? $(,)?) => {
        $crate::decoder!(columns $crate::rows::Decoding<$decoder> $(, samples: $($path),+)?);
    };
    (columns $stage:ty $(, samples: $($path:literal),+)? $(,)?) => {
        $crate::export_rows!($stage, $crate::raw::AsDecoder);
        $($crate::carry_samples!($($path),+);)?
    };
}

/// Exports a transformer: `transformer!(Enrich)` for a stage that works row by row, `transformer!(columns Enrich)` for
/// one that works on columns. Samples as with [`decoder!`].
#[macro_export]
macro_rules! transformer {
    ($transformer:ident $(, samples: $($path:literal),+)? $(,)?) => {
        $crate::transformer!(columns $crate::rows::Transforming<$transformer> $(, samples: $($path),+)?);
    };
    (columns $stage:ty $(, samples: $($path:literal),+)? $(,)?) => {
        $crate::export_rows!($stage, $crate::raw::AsTransformer);
        $($crate::carry_samples!($($path),+);)?
    };
}

/// Exports a validator: `validator!(Rules)` for one that works row by row, `validator!(columns Rules)` for one that
/// works on columns. Samples as with [`decoder!`].
#[macro_export]
macro_rules! validator {
    ($rules:ident $(, samples: $($path:literal),+)? $(,)?) => {
        $crate::validator!(columns $crate::rows::Checking<$rules> $(, samples: $($path),+)?);
    };
    (columns $rules:ty $(, samples: $($path:literal),+)? $(,)?) => {
        #[cfg(target_family = "wasm")]
        const _: () = {
            type Component = $crate::raw::Verdicts<$rules>;
            $crate::raw::described::export_description!(Component with_types_in $crate::raw::described);
            $crate::raw::judging::export_verdicts!(Component with_types_in $crate::raw::judging);
        };
        $($crate::carry_samples!($($path),+);)?
    };
}

/// Exports a ranker: `ranker!(Best)` for one that works on records, `ranker!(columns Best)` for one that works on
/// columns. Samples as with [`decoder!`].
#[macro_export]
macro_rules! ranker {
    ($ranker:ident $(, samples: $($path:literal),+)? $(,)?) => {
        $crate::ranker!(columns $crate::groups::Ranking<$ranker> $(, samples: $($path),+)?);
    };
    (columns $ranker:ty $(, samples: $($path:literal),+)? $(,)?) => {
        $crate::export_groups!($crate::raw::groups::RankSession<$ranker>);
        $($crate::carry_samples!($($path),+);)?
    };
}

/// Exports an aggregator: `aggregator!(Totals)` for one that works on records, `aggregator!(columns Totals)` for one
/// that works on columns. Samples as with [`decoder!`].
#[macro_export]
macro_rules! aggregator {
    ($aggregator:ident $(, samples: $($path:literal),+)? $(,)?) => {
        $crate::aggregator!(columns $crate::groups::Aggregating<$aggregator> $(, samples: $($path),+)?);
    };
    (columns $aggregator:ty $(, samples: $($path:literal),+)? $(,)?) => {
        $crate::export_groups!($crate::raw::groups::AggregateSession<$aggregator>);
        $($crate::carry_samples!($($path),+);)?
    };
}

/// The section is copied into the component and is no part of what runs. Natively the files are only looked for.
#[doc(hidden)]
#[macro_export]
macro_rules! carry_samples {
    ($($path:literal),+) => {
        $(
            #[cfg(target_family = "wasm")]
            const _: () = {
                // SAFETY: for WebAssembly this names a custom section, which holds no code and no memory.
                #[unsafe(link_section = "crisol:samples")]
                #[used]
                static SAMPLES: [u8; include_bytes!($path).len()] = *include_bytes!($path);
            };
            #[cfg(not(target_family = "wasm"))]
            const _: &str = include_str!($path);
        )+
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
