// This scenario checks redirects from old addresses. A redirect leads to its destination even after the destination is
// renamed or moved.
import assert from 'node:assert/strict';
import { all, badField, begin, insertPage, publish, refused, site, space, step } from '../lib/scenario.mjs';

const { ada, bob, eve, org } = await begin('Redirects', { bob: 'read' });
const api = ada.api.orgs;
const made = {};
let docs, guides, manual, sections, page;
// address returns the current address of a section. The address of the default section has no path.
const address = async ({ id }) => (await api.listSiteSections(org, docs.id)).data.items.find((s) => s.id === id).urls.published;
const target = async (source) => (await api.getSiteRedirectBySource(org, docs.id, { source })).data.target;

await step('a site with two sections and a page', async () => {
    guides = await space(ada, org, 'Guides');
    manual = await space(ada, org, 'Manual');
    const pages = await publish(ada, guides.id, 'First pages', [insertPage('Install', 'Download it.', { slug: 'install' })]);
    page = pages.find((p) => p.title === 'Install');
    docs = await site(ada, org, 'Docs');
    const section = async (spaceId, title, path) => {
        const { data } = await api.addSectionToSite(org, docs.id, { spaceId, title });
        return (await api.updateSiteSectionById(org, docs.id, data.id, { path })).data;
    };
    // The first section is the default. An address may leave out its path.
    sections = [await section(manual.id, 'Manual', 'manual'), await section(guides.id, 'Guides', 'guides')];
    await api.publishSite(org, docs.id);
});

await step('redirects to a section, a site space and a page', async () => {
    const [, { id: siteSectionId, siteSpaces: [{ id: siteSpaceId }] }] = sections;
    const destinations = {
        '/old-guides': { kind: 'site-section', siteSectionId },
        '/old/space': { kind: 'site-space', siteSpaceId },
        '/old/install.html': { kind: 'site-page', siteSpaceId, pageId: page.id },
    };
    for (const [source, destination] of Object.entries(destinations)) {
        ({ data: made[source] } = await api.createSiteRedirect(org, docs.id, { source, destination }));
        assert.equal(made[source].source, source);
        assert.deepEqual(made[source].destination, destination);
        const { data: found } = await api.getSiteRedirectBySource(org, docs.id, { source });
        assert.deepEqual(found.redirect, made[source]);
        assert.ok(found.target.includes('guides'), found.target);
    }
    assert.ok((await target('/old/install.html')).includes('install'));
});

await step('they are listed and searched for', async () => {
    const sources = async (query) => (await all((q) => api.listSiteRedirects(org, docs.id, { ...query, ...q }), 2)).map((r) => r.source).sort();
    assert.deepEqual(await sources({}), ['/old-guides', '/old/install.html', '/old/space']);
    assert.deepEqual(await sources({ search: '/old/' }), ['/old/install.html', '/old/space']);
    assert.deepEqual(await sources({ search: 'nothing' }), []);
});

await step('a destination is renamed', async () => {
    const [, section] = sections;
    await api.updateSiteSectionById(org, docs.id, section.id, { path: 'handbooks' });
    for (const source of Object.keys(made)) {
        assert.match(await target(source), /handbooks/);
    }
    assert.equal(await target('/old-guides'), await address(section));
    await publish(ada, guides.id, 'Rename', [{ operation: 'update_page', page: page.id, slug: 'set-up' }]);
    assert.match(await target('/old/install.html'), /set-up/);
});

await step('a destination is moved', async () => {
    const parents = await publish(ada, guides.id, 'Group', [insertPage('Basics', 'What comes first.', { slug: 'basics' })]);
    const basics = parents.find((p) => p.title === 'Basics');
    await publish(ada, guides.id, 'Move', [{ operation: 'update_page', page: page.id, into: basics.id }]);
    assert.match(await target('/old/install.html'), /basics\/set-up/);
    await api.moveSiteSection(org, docs.id, sections[1].id, { position: { before: { type: 'site-section', siteSection: sections[0].id } } });
    assert.match(await target('/old/install.html'), /basics\/set-up/);
});

await step('a redirect gets another source or destination', async () => {
    const { data: elsewhere } = await api.updateSiteRedirectById(org, docs.id, made['/old-guides'].id, { source: '/older-guides' });
    assert.deepEqual(elsewhere, { ...made['/old-guides'], source: '/older-guides' });
    await refused(api.getSiteRedirectBySource(org, docs.id, { source: '/old-guides' }), 404);
    const destination = { kind: 'site-section', siteSectionId: sections[0].id };
    const { data: other } = await api.updateSiteRedirectById(org, docs.id, made['/old-guides'].id, { destination });
    assert.deepEqual([other.source, other.destination], ['/older-guides', destination]);
    assert.equal(await target('/older-guides'), await address(sections[0]));
});

await step('one source has one redirect', async () => {
    const again = { source: '/older-guides', destination: { kind: 'site-section', siteSectionId: sections[1].id } };
    await refused(api.createSiteRedirect(org, docs.id, again), 400, 409);
    assert.equal(await target('/older-guides'), await address(sections[0]));
});

await step('a redirect is removed, and removing it again changes nothing', async () => {
    await api.deleteSiteRedirectById(org, docs.id, made['/old/space'].id);
    await api.deleteSiteRedirectById(org, docs.id, made['/old/space'].id);
    await refused(api.getSiteRedirectBySource(org, docs.id, { source: '/old/space' }), 404);
});

await step('who may not, cannot', async () => {
    const body = { source: '/mine', destination: { kind: 'site-section', siteSectionId: sections[0].id } };
    await refused(bob.api.orgs.createSiteRedirect(org, docs.id, body), 403);
    await refused(eve.api.orgs.listSiteRedirects(org, docs.id), 404);
    await refused(eve.api.orgs.getSiteRedirectBySource(org, docs.id, { source: '/older-guides' }), 404);
});

await step('bad input is named', async () => {
    const path = `/orgs/${org}/sites/${docs.id}/redirects`;
    const destination = { kind: 'site-section', siteSectionId: sections[0].id };
    for (const source of ['old', '/old/', '/', '/a b', '/%zz', `/${'x'.repeat(512)}`]) {
        await badField(ada, 'POST', path, { source, destination }, 'source');
    }
    await badField(ada, 'POST', path, { source: '/x' }, 'destination');
    await badField(ada, 'POST', path, { source: '/x', destination: { kind: 'site-section' } }, 'destination');
    await badField(ada, 'POST', path, { source: '/x', destination: { kind: 'moon' } }, 'destination');
    await badField(ada, 'GET', `/orgs/${org}/sites/${docs.id}/redirect`, undefined, 'source');
});
