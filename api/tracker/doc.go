// Package tracker has the script that pages of a site load, and the snippets that load it. The script sends events to
// the door for browsers (POST /e/{key}). The package has no code for requests or databases.
//
//	src        the source: core.js, docs.js (the extension for documentation), and an entry for each bundle
//	dist       the bundles that a node serves, written by cmd/gen
//	npm        the package @octavo/tracker, of the same source; index.js is written by cmd/gen
//	files.go   the files that a node serves, and their hashes
//	snippet.go what a site's pages or configuration need, by framework
//
// # Files
//
// /o.js has the core, and /o.docs.js has the core with the extension. A page loads one of the two bundles. Browsers
// cache them for an hour. /o.<hash>.js and /o.docs.<hash>.js have the bytes of one release. They never change, and can
// be loaded with `integrity`. Each release adds its bundles to dist under such names, so that pages with older snippets
// keep working.
//
// # Promises of the script
//
// The script stores nothing on the reader's device and reads nothing there. Events wait in the page's memory for a
// second, and are sent immediately when the page is hidden. So a reload or a closed tab loses only batches that could
// not be sent immediately. Storing them would need the device's storage. All attempts of a batch have the same bytes
// and the same id, so it counts once.
//
// TestSizes bounds the bundles: 800 bytes for the core, compressed by brotli, and 900 more for the extension.
package tracker
