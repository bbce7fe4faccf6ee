// Package value has the values of columns that Go has no type for.
package value

// Null is a value that may be null.
type Null[T any] struct {
	Value T
	Valid bool
}

// Some is a value that is not null.
func Some[T any](value T) Null[T] { return Null[T]{Value: value, Valid: true} }

// Entry is one key of a map column with its value.
type Entry[K, V any] struct {
	Key   K
	Value V
}

// Map is a map column as it stands: in order, and with keys as often as they are there.
type Map[K, V any] []Entry[K, V]
