// Package dashboard has the page at which people read a site's insights, and the sessions of their browsers. The page
// gets its figures from the public API. The package knows no query and no event.
//
//	src         the page in TypeScript. main.tsx begins. address.ts has the names of the views, and the views that
//	            a share link does not show. views.ts and panels.tsx have the tables of views and lists, and texts.ts
//	            all texts. Files that begin with more_ are for all views except the overview.
//	            cmd/gen writes columns.ts: the columns that can be explored, and why events are refused.
//	            It writes world.ts too, the map of countries, from Natural Earth (public domain), which the
//	            package world-atlas (ISC) packs
//	dist        the bundle that a node serves, written by cmd/gen from src and the libraries of package.json. app.js
//	            begins with a site's overview, more.js has the other pages, and chunk.js has the code that both need.
//	            world.js has the map
//	files.go    the page and its bundle, and their hashes
//	session.go  signing in and out
//
// # Changing
//
// Views show figures. Three things can be changed, each by a public operation and with the reader's rights. Redirects
// of broken addresses (broken.tsx) are confirmed in a dialog, and a button undoes them. In the settings, readers change
// what administrators keep (settings_tables.ts), and the site's zone and hosts. A secret is shown once and not stored.
//
// # Signing in
//
// A person pastes a token, or opens a link that `octavo serve --quickstart` prints. Single sign-on also leads to this
// page: startSAMLLogin takes the page's address as returnTo. The page exchanges the token, the link or the login's code
// for a cookie that scripts cannot read. Then it forgets them. The cookie ends after 12 hours, or with its token.
// Package access accepts it with the header Octavo-Browser only.
//
// # Share links
//
// The page opens a share link of insights by the fragment of its address, #share= and the secret. The link's token is
// only in memory (share.ts). So the page opens the link again after a reload, and when the token ends. It shows the
// views that consist of figures, and sends no request that the link does not allow.
//
// # Promises of the page
//
// The page loads nothing from other hosts. It runs only its own scripts and styles. It stores nothing on the device
// except the cookie, because its address has its state. TestDashboardSize (package browsertest) bounds the bytes before
// the first figures. more.js is loaded when a reader opens a view that it has (lazy.tsx). world.js is loaded when
// figures of countries have arrived (map.tsx).
package dashboard
