package compare

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

func itoa(n int) string { return strconv.Itoa(n) }

// body compares what is in the bodies; neither is empty.
func (c *comparison) body() {
	if c.a.Truncated || c.b.Truncated || len(c.a.Body) > MaxBody || len(c.b.Body) > MaxBody {
		c.whole(fmt.Sprintf("longer than %d bytes", MaxBody))
		return
	}
	if bytes.Equal(c.a.Body, c.b.Body) && c.encoding(c.a) == c.encoding(c.b) {
		return
	}
	a, b, why := c.decoded()
	if why != "" {
		c.whole(why)
		return
	}
	kind := formOf(mediaType(c.a), a)
	if kind != asBytes && (!utf8.Valid(a) || !utf8.Valid(b)) {
		c.whole("not in UTF-8")
		return
	}
	switch kind {
	case asJSON:
		c.jsonBody(a, b)
	case asHTML:
		c.htmlBody(a, b)
	case asText:
		c.text("text", string(a), string(b))
	default:
		c.whole("")
	}
}

// whole compares bodies by hash and length. why is empty for those of which nothing more can be said anyway.
func (c *comparison) whole(why string) {
	c.outcome.Uncompared = why
	sumA, sumB := c.a.sum(), c.b.sum()
	if sumA != sumB || c.a.Truncated != c.b.Truncated {
		c.differ(Whole, "body", c.a.digest(sumA), c.b.digest(sumB))
	}
}

func (a *Answer) sum() [32]byte {
	if a.Truncated {
		return a.Sum
	}
	return sha256.Sum256(a.Body)
}

func (a *Answer) digest(sum [32]byte) string {
	return fmt.Sprintf("%d bytes, hash %s", a.length(), hex.EncodeToString(sum[:8]))
}

func (c *comparison) encoding(a *Answer) string {
	return strings.ToLower(a.Header.Get("Content-Encoding"))
}

// decoded undoes gzip, up to MaxBody. why says what prevents it.
func (c *comparison) decoded() (a, b []byte, why string) {
	if a, why = decode(c.a.Body, c.encoding(c.a)); why != "" {
		return nil, nil, why
	}
	b, why = decode(c.b.Body, c.encoding(c.b))
	return a, b, why
}

func decode(body []byte, encoding string) (plain []byte, why string) {
	switch encoding {
	case "", "identity":
		return body, ""
	case "gzip", "x-gzip":
	default:
		return nil, "encoded as " + encoding
	}
	r, err := gzip.NewReader(bytes.NewReader(body))
	if err != nil {
		return nil, "gzip that cannot be read"
	}
	plain, err = io.ReadAll(io.LimitReader(r, MaxBody+1))
	switch {
	case len(plain) > MaxBody:
		return nil, fmt.Sprintf("longer than %d bytes", MaxBody)
	case err != nil:
		return nil, "gzip that cannot be read"
	}
	return plain, ""
}
