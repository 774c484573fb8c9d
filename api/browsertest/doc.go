// Package browsertest tests Octavo's pages in headless Chromium. Only a real browser shows what a content security
// policy blocks, which cookies a cross-site form sends, and where redirects lead. The package has only tests.
//
// The tests of the tracker need no engines, because they record the browser's requests in a test server. `make sites`
// installs the generators of five example sites. `make test-sites` builds these sites and reads them in the browser.
//
// If Chromium is not installed (`apt-get install chromium`), the tests are skipped. If OCTAVO_TEST_SCREENSHOTS is set,
// the tests save a screenshot of each page in this folder:
//
//	OCTAVO_TEST_SCREENSHOTS=/tmp/pages go run ./cmd/engine/enginetest/with -engines postgres -- go test -v ./api/browsertest
package browsertest
