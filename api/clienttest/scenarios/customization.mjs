// This scenario customizes a site. It reads the defaults, changes a part and all of the settings, and overrides
// settings for a site space. It then removes the overrides.
import assert from 'node:assert/strict';
import { badField, begin, refused, site, space, step } from '../lib/scenario.mjs';

const { ada, bob, eve, org } = await begin('Customization', { bob: 'read' });
const api = ada.api.orgs;
let docs, variant, plain;
const color = (light, dark) => ({ light, dark });
const ofSite = async () => (await api.getSiteCustomizationById(org, docs.id)).data;
const ofVariant = async (query) => (await api.getSiteSpaceCustomizationById(org, docs.id, variant.id, query)).data;
const override = async (body) => (await api.overrideSiteSpaceCustomizationById(org, docs.id, variant.id, body)).data;

await step('a new site looks like the default', async () => {
    docs = await site(ada, org, 'Docs', [await space(ada, org, 'Guides'), await space(ada, org, 'API')]);
    [, variant] = (await api.listSiteSpaces(org, docs.id)).data.items;
    plain = await ofSite();
    assert.deepEqual(await ofVariant(), plain);
    assert.deepEqual((await api.getSiteCustomizationById(org, docs.id, { unmasked: true })).data, plain);
});

await step('only the favicon must be sent; all else keeps its default', async () => {
    const { data: set } = await api.updateSiteCustomizationById(org, docs.id, { favicon: { emoji: '1f4d8' } });
    assert.deepEqual(set, { ...plain, favicon: { emoji: '1f4d8' } });
    const { data: empty } = await api.updateSiteCustomizationById(org, docs.id, { favicon: {} });
    assert.deepEqual(empty.favicon, {});
});

await step('everything is set', async () => {
    const whole = {
        ...plain,
        title: 'The documentation',
        favicon: { icon: color('https://cdn.example.com/light.png', 'https://cdn.example.com/dark.png') },
        styling: {
            ...plain.styling, theme: 'gradient', primaryColor: color('#346ddb', '#fff'), tint: { color: color('#aabbcc', '#112233') },
            corners: 'straight', depth: 'flat', links: 'accent', font: 'Lato', monospaceFont: 'FiraCode', icons: 'thin',
            sidebar: { background: 'filled', list: 'line' }, search: 'prominent',
        },
        header: {
            ...plain.header, logo: color('https://cdn.example.com/logo.png', 'https://cdn.example.com/logo-dark.png'),
            primaryLink: { kind: 'url', url: 'https://example.com' },
            links: [
                { title: 'Blog', to: { kind: 'url', url: 'https://blog.example.com' }, links: [], style: 'button-primary', condition: 'visitor.claims.beta' },
                { title: 'More', to: null, links: [{ title: 'Guides', to: { kind: 'space', space: variant.space.id } }] },
            ],
        },
        footer: { groups: [{ title: 'Legal', links: [{ title: 'Terms', to: { kind: 'url', url: 'https://example.com/terms' } }] }], copyright: '© Example' },
        announcement: { enabled: true, message: 'Version 2 is here', style: 'success', link: { title: 'Read on', to: { kind: 'url', url: 'https://example.com/2' } } },
        themes: { default: 'dark', toggeable: false },
        pdf: { enabled: false }, feedback: { enabled: true }, ai: { mode: 'assistant', suggestions: ['How do I start?'] },
        pageActions: { externalAI: false, markdown: true, mcp: false, items: ['assistant', 'markdown'] }, externalLinks: { target: 'blank' }, pagination: { enabled: false },
        privacyPolicy: { url: 'https://example.com/privacy' }, socialPreview: { url: 'https://cdn.example.com/social.png' }, insights: { trackingCookie: false },
    };
    const { data: set } = await api.updateSiteCustomizationById(org, docs.id, whole);
    assert.deepEqual(set, whole);
    assert.deepEqual(await ofSite(), whole);
    // A PUT replaces all settings: a member that the body does not have gets its default value.
    const { data: less } = await api.updateSiteCustomizationById(org, docs.id, { favicon: whole.favicon, title: 'Docs' });
    assert.deepEqual(less, { ...plain, favicon: whole.favicon, title: 'Docs' });
});

await step('one site space overrides some of it', async () => {
    const merged = await override({
        title: 'API', styling: { theme: 'bold', primaryColor: color('#ff0000', '#00ff00') }, pdf: { enabled: false }, footer: { copyright: '© API' },
    });
    const site = await ofSite();
    assert.deepEqual(merged, {
        ...site, title: 'API', styling: { ...site.styling, theme: 'bold', primaryColor: color('#ff0000', '#00ff00') },
        pdf: { enabled: false }, pageActions: { ...site.pageActions, items: site.pageActions.items.filter((item) => item !== 'pdf') },
        footer: { ...site.footer, copyright: '© API' },
    });
    assert.deepEqual(await ofVariant(), merged);
    assert.equal((await ofSite()).title, 'Docs');
});

await step('what it does not override follows the site', async () => {
    const site = await ofSite();
    await api.updateSiteCustomizationById(org, docs.id, { ...site, title: 'Docs 2', themes: { default: 'dark', toggeable: true } });
    const now = await ofVariant();
    assert.equal(now.title, 'API');
    assert.equal(now.themes.default, 'dark');
});

await step('an absent override stays, null drops it', async () => {
    const now = await override({ title: null, styling: { theme: null } });
    const site = await ofSite();
    assert.equal(now.title, site.title);
    assert.equal(now.styling.theme, site.styling.theme);
    assert.deepEqual(now.styling.primaryColor, color('#ff0000', '#00ff00'));
    assert.equal(now.footer.copyright, '© API');
    assert.equal((await override({ footer: { copyright: null } })).footer.copyright, site.footer.copyright);
});

await step('the overrides end, and ending them again changes nothing', async () => {
    await api.deleteSiteSpaceCustomizationById(org, docs.id, variant.id);
    await api.deleteSiteSpaceCustomizationById(org, docs.id, variant.id);
    assert.deepEqual(await ofVariant(), await ofSite());
});

await step('bad input is named, and nothing of it is kept', async () => {
    const before = await ofSite();
    const path = `/orgs/${org}/sites/${docs.id}`;
    await badField(ada, 'PUT', `${path}/customization`, {}, 'favicon');
    await badField(ada, 'PUT', `${path}/customization`, { favicon: {}, title: 'x' }, 'title');
    await badField(ada, 'PUT', `${path}/customization`, { favicon: {}, styling: { primaryColor: color('red', '#fff') } }, 'primaryColor');
    await badField(ada, 'PUT', `${path}/customization`, { favicon: { icon: color('not a url', 'https://x.example.com') } }, 'favicon');
    await badField(ada, 'PATCH', `${path}/site-spaces/${variant.id}/customization`, { title: 'API', styling: { theme: 'loud' } }, 'theme');
    assert.deepEqual(await ofSite(), before);
    assert.deepEqual(await ofVariant(), before);
});

await step('who may not, cannot', async () => {
    assert.deepEqual((await bob.api.orgs.getSiteCustomizationById(org, docs.id)).data, await ofSite());
    await refused(bob.api.orgs.updateSiteCustomizationById(org, docs.id, { favicon: {} }), 403);
    await refused(eve.api.orgs.getSiteCustomizationById(org, docs.id), 404);
    await refused(api.getSiteSpaceCustomizationById(org, docs.id, 'nothing'), 404);
});
