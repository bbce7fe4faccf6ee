//! Harness of the end-to-end tests: a project in a temporary folder, the real binary, a broker, an independent reader.
