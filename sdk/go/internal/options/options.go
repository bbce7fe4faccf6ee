// Package options reads the options of a contract into a struct, and tells their JSON Schema.
package options

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
)

// Parse reads options strictly: a key that the struct does not have is refused, and so is text after the object.
func Parse[O any](text string) (O, error) {
	var options O
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&options); err != nil && !errors.Is(err, io.EOF) {
		return options, wrong{strings.TrimPrefix(err.Error(), "json: ")}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return options, wrong{"there is text after the object"}
	}
	if checked, ok := any(&options).(interface{ Check() error }); ok {
		if err := checked.Check(); err != nil {
			return options, wrong{err.Error()}
		}
	}
	return options, nil
}

type wrong struct{ text string }

func (w wrong) Error() string             { return w.text }
func (w wrong) Failure() (string, string) { return "options", w.text }

// Schema is the JSON Schema of a struct of options; nil when it has no fields. The tag `json` names a key, which may be left
// out when it says omitempty or is a pointer; `doc` describes it, `schema` adds JSON Schema's own words:
//
//	Every int `json:"every,omitempty" doc:"one row in so many" schema:"{\"minimum\": 1}"`
func Schema(t reflect.Type) (json.RawMessage, error) {
	if t.NumField() == 0 {
		return nil, nil
	}
	schema, err := object(t)
	if err != nil {
		return nil, err
	}
	return json.Marshal(schema)
}

func object(t reflect.Type) (map[string]any, error) {
	properties, required := map[string]any{}, []string{}
	// Also those of structs that stand in it without a name.
	for _, field := range reflect.VisibleFields(t) {
		if field.Anonymous {
			continue
		}
		name, more, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "-" || !field.IsExported() {
			continue
		}
		if name == "" {
			name = field.Name
		}
		of, err := schemaOf(field.Type)
		if err != nil {
			return nil, fmt.Errorf("option %s: %w", name, err)
		}
		if doc := field.Tag.Get("doc"); doc != "" {
			of["description"] = doc
		}
		if words := field.Tag.Get("schema"); words != "" {
			if err := json.Unmarshal([]byte(words), &of); err != nil {
				return nil, fmt.Errorf("option %s: its tag `schema`: %w", name, err)
			}
		}
		properties[name] = of
		if !strings.Contains(more, "omitempty") && field.Type.Kind() != reflect.Pointer {
			required = append(required, name)
		}
	}
	schema := map[string]any{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema, nil
}

func schemaOf(t reflect.Type) (map[string]any, error) {
	switch t.Kind() {
	case reflect.Pointer:
		return schemaOf(t.Elem())
	case reflect.String:
		return map[string]any{"type": "string"}, nil
	case reflect.Bool:
		return map[string]any{"type": "boolean"}, nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return map[string]any{"type": "integer"}, nil
	case reflect.Float32, reflect.Float64:
		return map[string]any{"type": "number"}, nil
	case reflect.Slice:
		items, err := schemaOf(t.Elem())
		return map[string]any{"type": "array", "items": items}, err
	case reflect.Map:
		values, err := schemaOf(t.Elem())
		return map[string]any{"type": "object", "additionalProperties": values}, err
	case reflect.Struct:
		return object(t)
	}
	return nil, fmt.Errorf("%s is no type of an option", t)
}
