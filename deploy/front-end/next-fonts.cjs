// Next.js loads this module instead of Google's fonts while it builds an older version of the front end. The module
// returns the font Inter for every font that Next.js requests.
const path = require('node:path');

const file = path.join(__dirname, 'node_modules/@fontsource-variable/inter/files/inter-latin-wght-normal.woff2');

module.exports = new Proxy({}, {
    get(_, url) {
        if (typeof url !== 'string' || !url.startsWith('https://')) return undefined;
        const family = new URL(url).searchParams.get('family')?.split(':')[0] ?? 'Inter';
        return `/* latin */
@font-face { font-family: '${family}'; font-style: normal; font-weight: 100 900; font-display: swap; src: url(${file}) format('woff2'); }
`;
    },
});
