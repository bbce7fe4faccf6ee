//! Tests of opening a store.
