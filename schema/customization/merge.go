package customization

import "reflect"

// Merge applies `patch` to `base`, leaf by leaf. An absent member leaves the value unchanged, null removes the member,
// and a value replaces it. A group is a struct of only Opts. The members of a group are merged individually, and a null
// group removes all of them. The result contains no null. Merge does not change its arguments, but the result shares
// their leaves.
//
// Merge uses reflection, as the JSON decoder does. Without reflection, each group would need a list of its members. If
// a list lacked a member, the member would be lost without an error.
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
			// The group is copied, because other settings share the pointer to base's group.
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

// isGroup reports whether a type is a struct whose fields are all Opts.
func isGroup(t reflect.Type) bool {
	if t.Kind() != reflect.Struct || t.NumField() == 0 {
		return false
	}
	for i := range t.NumField() {
		if !t.Field(i).Type.Implements(reflect.TypeFor[interface{ Null() bool }]()) {
			return false
		}
	}
	return true
}
