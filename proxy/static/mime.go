package static

// A kind is what an extension says about the bytes.
type kind struct {
	contentType string
	// compressible kinds may have sidecars, and compression on the fly; their answers vary by Accept-Encoding.
	compressible bool
}

// kindOf returns the kind of name by its extension. The table is our own, so that a file has the same type
// on every machine; and bytes are never sniffed, which would let an upload choose to be HTML.
func kindOf(name string) kind {
	if k, ok := kinds[extension(name)]; ok {
		return k
	}
	return kind{contentType: "application/octet-stream"}
}

func text(contentType string) kind { return kind{contentType + "; charset=utf-8", true} }

func packed(contentType string) kind { return kind{contentType, false} }

func loose(contentType string) kind { return kind{contentType, true} }

var kinds = map[string]kind{
	// Text. JSON has no charset by its standard, but tools that show it guess Latin-1 without one.
	"css":         text("text/css"),
	"csv":         text("text/csv"),
	"htm":         text("text/html"),
	"html":        text("text/html"),
	"ics":         text("text/calendar"),
	"js":          text("text/javascript"),
	"log":         text("text/plain"),
	"markdown":    text("text/markdown"),
	"md":          text("text/markdown"),
	"mjs":         text("text/javascript"),
	"srt":         text("text/plain"),
	"tsv":         text("text/tab-separated-values"),
	"txt":         text("text/plain"),
	"vcf":         text("text/vcard"),
	"vtt":         text("text/vtt"),
	"atom":        text("application/atom+xml"),
	"geojson":     text("application/geo+json"),
	"gltf":        text("model/gltf+json"),
	"json":        text("application/json"),
	"jsonld":      text("application/ld+json"),
	"m3u8":        text("application/vnd.apple.mpegurl"),
	"map":         text("application/json"),
	"mpd":         text("application/dash+xml"),
	"rss":         text("application/rss+xml"),
	"svg":         text("image/svg+xml"),
	"topojson":    text("application/json"),
	"webmanifest": text("application/manifest+json"),
	"xhtml":       text("application/xhtml+xml"),
	"xml":         text("application/xml"),
	"xsd":         text("application/xml"),
	"xsl":         text("application/xml"),
	"xslt":        text("application/xslt+xml"),
	"yaml":        text("application/yaml"),
	"yml":         text("application/yaml"),

	// Bytes that compress well.
	"bmp":  loose("image/bmp"),
	"cur":  loose("image/x-icon"),
	"eot":  loose("application/vnd.ms-fontobject"),
	"ico":  loose("image/x-icon"),
	"otf":  loose("font/otf"),
	"ttc":  loose("font/collection"),
	"ttf":  loose("font/ttf"),
	"wasm": loose("application/wasm"),

	// Pictures, sound and film.
	"aac":  packed("audio/aac"),
	"apng": packed("image/apng"),
	"avi":  packed("video/x-msvideo"),
	"avif": packed("image/avif"),
	"flac": packed("audio/flac"),
	"gif":  packed("image/gif"),
	"heic": packed("image/heic"),
	"heif": packed("image/heif"),
	"jpeg": packed("image/jpeg"),
	"jpg":  packed("image/jpeg"),
	"jxl":  packed("image/jxl"),
	"m4a":  packed("audio/mp4"),
	"m4s":  packed("video/iso.segment"),
	"m4v":  packed("video/mp4"),
	"mid":  packed("audio/midi"),
	"midi": packed("audio/midi"),
	"mkv":  packed("video/matroska"),
	"mov":  packed("video/quicktime"),
	"mp3":  packed("audio/mpeg"),
	"mp4":  packed("video/mp4"),
	"mpeg": packed("video/mpeg"),
	"mpg":  packed("video/mpeg"),
	"oga":  packed("audio/ogg"),
	"ogg":  packed("audio/ogg"),
	"ogv":  packed("video/ogg"),
	"opus": packed("audio/ogg"),
	"png":  packed("image/png"),
	"tif":  packed("image/tiff"),
	"tiff": packed("image/tiff"),
	"ts":   packed("video/mp2t"),
	"wav":  packed("audio/wav"),
	"weba": packed("audio/webm"),
	"webm": packed("video/webm"),
	"webp": packed("image/webp"),

	// Fonts that are compressed by their format.
	"woff":  packed("font/woff"),
	"woff2": packed("font/woff2"),

	// Documents and archives.
	"7z":   packed("application/x-7z-compressed"),
	"apk":  packed("application/vnd.android.package-archive"),
	"bz2":  packed("application/x-bzip2"),
	"doc":  packed("application/msword"),
	"docx": packed("application/vnd.openxmlformats-officedocument.wordprocessingml.document"),
	"epub": packed("application/epub+zip"),
	"glb":  packed("model/gltf-binary"),
	"gz":   packed("application/gzip"),
	"jar":  packed("application/java-archive"),
	"odp":  packed("application/vnd.oasis.opendocument.presentation"),
	"ods":  packed("application/vnd.oasis.opendocument.spreadsheet"),
	"odt":  packed("application/vnd.oasis.opendocument.text"),
	"pdf":  packed("application/pdf"),
	"ppt":  packed("application/vnd.ms-powerpoint"),
	"pptx": packed("application/vnd.openxmlformats-officedocument.presentationml.presentation"),
	"rar":  packed("application/vnd.rar"),
	"rtf":  packed("application/rtf"),
	"tar":  packed("application/x-tar"),
	"tgz":  packed("application/gzip"),
	"usdz": packed("model/vnd.usdz+zip"),
	"xls":  packed("application/vnd.ms-excel"),
	"xlsx": packed("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"),
	"xz":   packed("application/x-xz"),
	"zip":  packed("application/zip"),
	"zst":  packed("application/zstd"),
}
