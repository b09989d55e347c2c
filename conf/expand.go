package conf

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// expand replaces ${NAME} by the environment variable and $$ by one dollar. Any other dollar stands for itself.
func expand(text string) (string, error) {
	var out strings.Builder
	for {
		i := strings.IndexByte(text, '$')
		if i < 0 || i+1 == len(text) {
			out.WriteString(text)
			return out.String(), nil
		}
		out.WriteString(text[:i])
		switch rest := text[i+1:]; rest[0] {
		case '$':
			out.WriteByte('$')
			text = rest[1:]
		case '{':
			name, after, closed := strings.Cut(rest[1:], "}")
			if !closed {
				return "", errors.New(`"${" without "}"; want ${NAME}, or "$$" for a dollar`)
			}
			value, err := environment(name)
			if err != nil {
				return "", err
			}
			out.WriteString(value)
			text = after
		default:
			out.WriteByte('$')
			text = rest
		}
	}
}

func environment(name string) (string, error) {
	if name == "" || strings.ContainsFunc(name, notBare) || strings.Contains(name, "-") {
		return "", fmt.Errorf(`${%s} names no environment variable; want letters, digits and "_", or "$$" for a dollar`, name)
	}
	value, set := os.LookupEnv(name)
	if !set {
		return "", fmt.Errorf("environment variable %s is not set; set it, even to nothing, or write the value here", name)
	}
	return value, nil
}
