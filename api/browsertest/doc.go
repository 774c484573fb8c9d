// Package browsertest tests our pages in a real browser, headless Chromium. Only a browser decides what a policy
// blocks, which cookies a cross-site form sends and where redirects lead. The package holds tests only; no package may
// import it.
//
// The tests of the tracker need no engine: they record requests in a test server. `make sites` installs the generators
// of five example sites, which make test-sites builds and reads.
//
// The tests are skipped where Chromium is not installed (`apt-get install chromium`). With OCTAVO_TEST_SCREENSHOTS the
// tests save a screenshot of each page in that folder:
//
//	OCTAVO_TEST_SCREENSHOTS=/tmp/pages go run ./cmd/engine/enginetest/with -engines postgres -- go test -v ./api/browsertest
package browsertest
