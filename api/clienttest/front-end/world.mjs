// This module creates the sites that the cases read. A case refers to an id by the id's path in the returned object,
// such as {plain.space}.
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { insertPage, operator, propose, publish, site, space, until } from '../lib/scenario.mjs';

const text = (name) => readFileSync(new URL(name, import.meta.url), 'utf8');
const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** Returns a visitor's token, signed as the login service of a site's owner does. */
function vouch(key, claims) {
    const payload = `${encoded({ alg: 'HS256', typ: 'JWT' })}.${encoded({ ...claims, exp: Math.floor(Date.now() / 1000) + 600 })}`;
    return `${payload}.${createHmac('sha256', key).update(payload).digest('base64url')}`;
}

/** Creates the sites and returns their ids. */
export async function build({ ada, org, url }) {
    const api = ada.api.orgs;
    // open creates a site with its own host name that shows the spaces. It publishes the site after it has called
    // change.
    const open = async (host, spaces, more = {}, change = () => {}) => {
        const made = await site(ada, org, host, spaces, more);
        await api.updateSiteById(org, made.id, { hostname: host });
        operator('site', 'prove-hostname', made.id, host);
        const extra = await change(made.id);
        await api.publishSite(org, made.id);
        const siteSpaces = (await api.listSiteSpaces(org, made.id)).data.items;
        return { site: made.id, siteSpace: siteSpaces[0].id, space: siteSpaces[0].space.id, siteSpaces, ...extra };
    };
    const simple = async (title, pages, more = {}) => {
        const made = await space(ada, org, title, more);
        await publish(ada, made.id, title, pages);
        return made;
    };
    // send sends the requests that the published client of 0.146.0 cannot send.
    const send = async (method, path, body) => {
        const headers = { authorization: `Bearer ${ada.token}`, 'content-type': 'application/json' };
        const response = await fetch(`${url}/v1${path}`, { method, headers, body: JSON.stringify(body) });
        if (!response.ok) {
            throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
        }
        return response.json();
    };

    await api.createOpenApiSpec(org, {
        slug: 'pets', source: { text: JSON.stringify({
            openapi: '3.0.3', info: { title: 'Pets', version: '1' }, servers: [{ url: 'https://pets.example.com' }],
            paths: { '/pets': { get: { operationId: 'listPets', responses: { 200: { description: 'All pets' } } } } },
        }) },
    });
    await until('processed specification', async () => (await api.getOpenApiSpecBySlug(org, 'pets')).data.lastVersion);

    const guide = await space(ada, org, 'Guide');
    const pages = await publish(ada, guide.id, 'First pages', [
        insertPage('Welcome', 'Hello, reader.'),
        insertPage('Guides', 'What to do.', { ref: 'guides' }),
        insertPage('Install', '## On Linux\n\nRun `make`. See [the blocks](../blocks.md).', { into: 'guides' }),
        insertPage('Blocks', text('blocks.md')),
        insertPage('Reference', '{% openapi-operation spec="pets" path="/pets" method="get" %}\n[pets](https://pets.example.com/openapi.json)\n{% endopenapi-operation %}'),
        insertPage('Setup', 'Where it was.'),
    ]);
    const page = (title) => pages.flatMap((p) => [p, ...p.pages]).find((p) => p.title === title).id;
    await publish(ada, guide.id, 'Another name', [{ operation: 'update_page', page: page('Setup'), title: 'Preparations', slug: 'preparations' }]);
    const plain = await open('plain.example.com', [guide], {}, async (id) => {
        const [siteSpace] = (await api.listSiteSpaces(org, id)).data.items;
        await send('POST', `/orgs/${org}/sites/${id}/redirects`, {
            source: '/begin', destination: { kind: 'site-page', siteSpaceId: siteSpace.id, pageId: page('Install') },
        });
        await send('POST', `/orgs/${org}/sites/${id}/redirects`, { source: '/out', destination: { kind: 'external', url: 'https://elsewhere.example.com/' } });
        await send('PATCH', `/orgs/${org}/sites/${id}`, { anonymousEvents: true });
    });
    plain.pages = { install: page('Install'), blocks: page('Blocks'), welcome: page('Welcome'), preparations: page('Setup') };
    const draft = await propose(ada, guide.id, 'On Windows', [
        { operation: 'update_page', page: page('Install'), document: { markdown: '## On Windows\n\nUse a container.' } },
    ]);

    const v1 = await simple('Version 1', [insertPage('Start', 'The first wombat version.')]);
    const v2 = await simple('Version 2', [insertPage('Start', 'The second wombat version.')]);
    const reference = await simple('Reference', [insertPage('Calls', 'All wombat calls.')]);
    const multi = await open('multi.example.com', [v1], {}, async (id) => {
        const [first] = (await api.listSiteSpaces(org, id)).data.items;
        const { data: calls } = await api.addSectionToSite(org, id, { spaceId: reference.id, title: 'Calls' });
        const { data: sections } = await api.listSiteSections(org, id);
        const guides = sections.items.find((s) => s.id !== calls.id);
        const { data: second } = await api.addSpaceToSite(org, id, { spaceId: v2.id, sectionId: guides.id });
        return { sections: { guides: guides.id, calls: calls.id }, paths: { calls: calls.path, v2: second.path }, first: first.id, second: second.id, spaces: { v1: v1.id, v2: v2.id, reference: reference.id } };
    });

    const english = await simple('English', [insertPage('Hello', 'Good morning.')], { language: 'en' });
    const french = await simple('French', [insertPage('Bonjour', 'Bon matin.')], { language: 'fr' });
    const languages = await open('languages.example.com', [english, french]);
    const second = languages.siteSpaces.find((s) => s.space.id === french.id);
    languages.french = { siteSpace: second.id, space: french.id, path: second.path };

    const shared = await open('shared.example.com', [await simple('Shared', [insertPage('Secret', 'Only with the link.')])], { visibility: 'share-link' }, async (id) => {
        const { data: link } = await api.createSiteShareLink(org, id, { name: 'Customers' });
        return { link: link.id };
    });
    const { data: { items: [link] } } = await api.listSiteShareLinks(org, shared.site);
    shared.url = link.urls.published;
    shared.key = new URL(link.urls.published).pathname.split('/')[1].slice(1);

    const closed = await simple('Members', [
        insertPage('Inside', 'For everybody who is in.\n\n{% if visitor.claims.plan == "pro" %}\nA thousand wombats.\n{% endif %}'),
    ]);
    const members = await open('members.example.com', [closed], { visibility: 'visitor-auth' }, async (id) => {
        const auth = await send('PATCH', `/orgs/${org}/sites/${id}/publishing/auth`, { backend: 'custom', fallbackURL: 'https://login.example.com/' });
        return { pro: vouch(auth.privateKey, { plan: 'pro' }), basic: vouch(auth.privateKey, { plan: 'basic' }), forged: vouch('nobody', { plan: 'pro' }) };
    });
    return { organization: org, user: ada.id, plain, multi, languages, shared, members, draft: draft.id };
}
