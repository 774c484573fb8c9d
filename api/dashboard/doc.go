// Package dashboard has the page at which people read a site's insights, and the sessions of their browsers. The page
// gets its figures from the public API. The package has no code that handles queries or events.
//
//	src         the page in TypeScript. main.tsx is its entry point. address.ts has the names of the views, and the
//	            views that share links do not show. views.ts and panels.tsx have the tables of views and panels. The
//	            files *texts.ts have all texts. The files more_* are for all views except the overview.
//	            cmd/gen writes columns.ts: the columns for the view explore, and the reasons for refused events.
//	            It also writes world.ts, the map of countries. The data are from Natural Earth (public domain), in
//	            the form of the package world-atlas (ISC)
//	dist        the bundle that a node serves, written by cmd/gen from src and the libraries of package.json. app.js
//	            has a site's overview, more.js has all other pages, and chunk.js has the code that both use.
//	            world.js has the map
//	files.go    the page and its bundle, and their hashes
//	session.go  signing in and out
//
// # Changing
//
// Most views only show figures. Readers can change three things, each with a public operation and with the reader's own
// rights. They can create redirects of broken addresses (broken.tsx). A redirect is confirmed in a dialog, and a button
// undoes it. In the settings, they can change the objects that administrators manage (settings_tables.ts), and the
// site's zone and hosts. The page shows a secret once, and does not store it.
//
// # Signing in
//
// A person pastes a token, or opens a link that `octavo serve --quickstart` prints. Single sign-on also leads to this
// page: startSAMLLogin takes the page's address as returnTo. The page exchanges the token, the link or the login's code
// for a cookie that scripts cannot read. The page does not store any of them. The cookie is valid for 12 hours, but not
// longer than its token. Package access accepts the cookie only in requests with the header Octavo-Browser.
//
// A code signs in only the browser that logged in, because the login gives this browser a cookie for the code
// (saml_codes.go in package orgs). Otherwise a person could sign others in as himself by sending them an address with
// his code. The link signs in any browser, even over an existing session. Only the operator's terminal shows the link.
// No operation creates one, so a stranger has no link to send.
//
// # Share links
//
// The address of a share link ends with the fragment #share= and the link's secret. With this secret, the page opens
// the link, and gets a token. The token is only in memory (share.ts). So the page opens the link again after a reload,
// and when the token ends. For a link, the page shows only views that consist of figures, and sends no request that the
// link does not allow.
//
// # Promises of the page
//
// The page loads nothing from other hosts. It runs only its own scripts and styles. It stores only the cookie on the
// device, because the page's address has the page's state. TestDashboardSize (package browsertest) limits the bytes
// that are loaded before the first figures. more.js is loaded when a reader opens a view whose code is in it
// (lazy.tsx). world.js is loaded when figures of countries have arrived (map.tsx).
package dashboard
