package schema

import "reflect"

// Merge lays patch over base, leaf by leaf: an absent member changes nothing, null removes the member, a value replaces it.
// A group, which is a struct whose members are all Opts, is no leaf: its members are merged one by one, and null removes
// all of them. What comes out holds no null. Neither argument is changed, but leaves are shared with the result.
func Merge[T any](base, patch T) T {
	mergeGroup(reflect.ValueOf(&base).Elem(), reflect.ValueOf(patch))
	return base
}

func mergeGroup(into, patch reflect.Value) {
	for i := range patch.NumField() {
		to, from := into.Field(i), patch.Field(i)
		value := from.FieldByName("Value")
		switch {
		case !from.FieldByName("Set").Bool():
		case value.IsNil():
			to.SetZero()
		case isGroup(value.Type().Elem()):
			// The group is copied: base's own is behind a pointer that others share.
			group := reflect.New(value.Type().Elem())
			if old := to.FieldByName("Value"); !old.IsNil() {
				group.Elem().Set(old.Elem())
			}
			mergeGroup(group.Elem(), value.Elem())
			to.FieldByName("Set").SetBool(true)
			to.FieldByName("Value").Set(group)
		default:
			to.Set(from)
		}
	}
}

// isGroup says whether a type is a struct of Opts.
func isGroup(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t.NumField() == 0 {
		return false
	}
	for i := range t.NumField() {
		if !t.Field(i).Type.Implements(reflect.TypeFor[interface{ optional() }]()) {
			return false
		}
	}
	return true
}
