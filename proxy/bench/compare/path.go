package compare

import "strings"

// join adds a key to a path. Keys that are numbers or ids are written as *.
func join(path, key string) string {
	switch {
	case isID(key):
		key = anyStep
	case strings.ContainsAny(key, ".[] \"\n"):
		key = `["` + strings.ReplaceAll(cut(key, 60), "\n", " ") + `"]`
		return path + key
	default:
		key = cut(key, 60)
	}
	if path == "" || strings.HasSuffix(path, " ") {
		return path + key
	}
	return path + "." + key
}

func isID(key string) bool {
	if key == "" {
		return false
	}
	digits := strings.Trim(key, "0123456789") == ""
	return digits || uuidShape.MatchString(key) || ulidShape.MatchString(key) || hex40Shape.MatchString(key)
}
