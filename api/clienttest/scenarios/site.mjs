// This scenario builds a site. It has sections, groups of sections, and site spaces as variants, with an order,
// defaults and conditions. It then publishes the site.
import assert from 'node:assert/strict';
import { all, badField, begin, refused, site, space, step } from '../lib/scenario.mjs';

const { ada, bob, eve, org } = await begin('Site', { bob: 'read' });
const api = ada.api.orgs;
const spaces = {}, sections = {};
let docs;
const titles = (list) => list.map((x) => x.title);
const listed = async () => titles(await all((q) => api.listSiteSections(org, docs.id, q), 2));
const beside = (where, id) => ({ position: { [where]: { type: 'site-section', siteSection: id } } });

await step('an empty site', async () => {
    for (const title of ['Guides', 'API v1', 'API v2', 'Changelog', 'Help', 'Loose']) {
        spaces[title] = await space(ada, org, title);
    }
    docs = await site(ada, org, 'Docs');
    assert.equal(docs.siteSpaces, 0);
    assert.equal(docs.published, false);
    assert.deepEqual(await listed(), []);
});

await step('sections are added; the first is the default', async () => {
    ({ data: sections.guides } = await api.addSectionToSite(org, docs.id, { spaceId: spaces.Guides.id, title: 'Guides', icon: 'book' }));
    assert.equal(sections.guides.title, 'Guides');
    assert.equal(sections.guides.icon, 'book');
    assert.equal(sections.guides.default, true);
    assert.deepEqual(sections.guides.siteSpaces.map((s) => s.space.id), [spaces.Guides.id]);
    assert.equal(sections.guides.siteSpaces[0].section, sections.guides.id);
    ({ data: sections.api } = await api.addSectionToSite(org, docs.id, { spaceId: spaces['API v1'].id, title: null, icon: null }));
    assert.ok(sections.api.title.length >= 2);
    assert.equal(sections.api.icon, undefined);
    assert.ok(!sections.api.default);
    ({ data: sections.changes } = await api.addSectionToSite(org, docs.id, { spaceId: spaces.Changelog.id, title: 'Changelog' }));
    ({ data: sections.help } = await api.addSectionToSite(org, docs.id, { spaceId: spaces.Help.id, title: 'Help' }));
    const paths = Object.values(sections).map((s) => s.path);
    assert.equal(new Set(paths).size, 4, `paths are distinct: ${paths}`);
    assert.equal((await api.getSiteById(org, docs.id)).data.siteSpaces, 4);
});

await step('a section is renamed, described, and hidden from some', async () => {
    const { data: changed } = await api.updateSiteSectionById(org, docs.id, sections.api.id, {
        title: 'Reference', path: 'reference', icon: 'code', description: 'Every call', condition: 'visitor.claims.plan == "pro"',
    });
    assert.deepEqual([changed.title, changed.path, changed.icon, changed.description, changed.condition],
        ['Reference', 'reference', 'code', 'Every call', 'visitor.claims.plan == "pro"']);
    const { data: same } = await api.updateSiteSectionById(org, docs.id, sections.api.id, { title: 'API' });
    assert.equal(same.condition, 'visitor.claims.plan == "pro"');
    const { data: plain } = await api.updateSiteSectionById(org, docs.id, sections.api.id, { condition: null, icon: null, description: null });
    assert.deepEqual([plain.title, plain.condition, plain.icon, plain.description], ['API', undefined, undefined, undefined]);
});

await step('a section gets variants and another default one', async () => {
    const { data: v2 } = await api.addSpaceToSite(org, docs.id, { spaceId: spaces['API v2'].id, sectionId: sections.api.id });
    assert.equal(v2.section, sections.api.id);
    assert.ok(!v2.default);
    const { data: now } = await api.updateSiteSectionById(org, docs.id, sections.api.id, { defaultSiteSpace: v2.id });
    assert.deepEqual(now.siteSpaces.filter((s) => s.default).map((s) => s.id), [v2.id]);
    assert.equal(now.siteSpaces.length, 2);
    const [v1] = now.siteSpaces.filter((s) => s.id !== v2.id);
    await api.moveSiteSpace(org, docs.id, v2.id, { position: { before: { type: 'site-space', siteSpace: v1.id } } });
    const { data: list } = await api.listSiteSections(org, docs.id);
    assert.deepEqual(list.items.find((s) => s.id === sections.api.id).siteSpaces.map((s) => s.id), [v2.id, v1.id]);
    // The site space is in another section.
    await refused(api.updateSiteSectionById(org, docs.id, sections.guides.id, { defaultSiteSpace: v2.id }), 400, 404);
});

await step('a space without a section goes to the default one', async () => {
    const { data: loose } = await api.addSpaceToSite(org, docs.id, { spaceId: spaces.Loose.id });
    assert.equal(loose.section, sections.guides.id);
    await api.deleteSiteSpaceById(org, docs.id, loose.id);
    await api.deleteSiteSpaceById(org, docs.id, loose.id);
    const { data: left } = await api.listSiteSpaces(org, docs.id);
    assert.ok(!left.items.some((s) => s.id === loose.id));
});

await step('sections change places', async () => {
    assert.deepEqual(await listed(), ['Guides', 'API', 'Changelog', 'Help']);
    const { data: moved } = await api.moveSiteSection(org, docs.id, sections.help.id, beside('before', sections.api.id));
    assert.equal(moved.id, sections.help.id);
    assert.deepEqual(await listed(), ['Guides', 'Help', 'API', 'Changelog']);
    await api.moveSiteSection(org, docs.id, sections.guides.id, beside('after', sections.changes.id));
    assert.deepEqual(await listed(), ['Help', 'API', 'Changelog', 'Guides']);
    await api.moveSiteSection(org, docs.id, sections.help.id, {}); // without a position, the section moves to the end
    assert.deepEqual(await listed(), ['API', 'Changelog', 'Guides', 'Help']);
    await refused(api.moveSiteSection(org, docs.id, sections.help.id, beside('before', 'nothing')), 400);
    await refused(api.moveSiteSection(org, docs.id, 'nothing', beside('before', sections.help.id)), 404);
});

await step('the structure is sorted', async () => {
    const { data: structure } = await api.getSiteStructure(org, docs.id);
    assert.equal(structure.type, 'sections');
    assert.deepEqual(titles(structure.structure), ['API', 'Changelog', 'Guides', 'Help']);
    await api.sortSiteStructure(org, docs.id, {
        item: { type: 'site-section', id: sections.guides.id }, position: { before: { type: 'site-section', id: sections.api.id } },
    });
    assert.deepEqual(await listed(), ['Guides', 'API', 'Changelog', 'Help']);
});

await step('sections are grouped', async () => {
    const { data: group } = await api.addSectionGroupToSite(org, docs.id, { title: 'More', icon: 'folder', sections: [sections.changes.id] });
    assert.deepEqual(group.children.map((c) => c.id), [sections.changes.id]);
    const { data: larger } = await api.addSectionToGroup(org, docs.id, group.id, { sectionId: sections.help.id });
    assert.deepEqual(larger.children.map((c) => c.id), [sections.changes.id, sections.help.id]);
    assert.deepEqual((await all((q) => api.listSiteSectionGroups(org, docs.id, q), 1)).map((g) => g.title), ['More']);
    const { data: list } = await api.listSiteSections(org, docs.id);
    assert.equal(list.items.find((s) => s.id === sections.help.id).sectionGroup, group.id);
    const { data: structure } = await api.getSiteStructure(org, docs.id);
    assert.deepEqual(structure.structure.map((x) => x.object), ['site-section', 'site-section', 'site-section-group']);
});

await step('another section and title become the default', async () => {
    const { data: changed } = await api.updateSiteById(org, docs.id, { title: 'Documentation', defaultSiteSection: sections.api.id, basename: 'docs' });
    assert.equal(changed.title, 'Documentation');
    const { data: list } = await api.listSiteSections(org, docs.id);
    assert.deepEqual(list.items.filter((s) => s.default).map((s) => s.id), [sections.api.id]);
});

await step('it is published, and then has addresses', async () => {
    assert.ok((await api.listSiteSections(org, docs.id)).data.items.every((s) => s.urls.published === undefined));
    const { data: published } = await api.publishSite(org, docs.id);
    assert.equal(published.published, true);
    assert.ok(published.urls.published);
    const { data: list } = await api.listSiteSections(org, docs.id);
    assert.ok(list.items.every((s) => s.urls.published.startsWith(published.urls.published.replace(/\/$/, ''))));
    assert.equal(new Set(list.items.map((s) => s.urls.published)).size, 4);
    assert.ok(list.items.every((s) => s.siteSpaces.every((x) => x.urls.published)));
});

await step('a site without sections has its spaces at the root', async () => {
    const small = await site(ada, org, 'Small', [spaces.Guides]);
    const { data: first } = await api.listSiteSpaces(org, small.id, { default: true });
    assert.deepEqual(first.items.map((s) => s.space.id), [spaces.Guides.id]);
    const { data: second } = await api.addSpaceToSite(org, small.id, { spaceId: spaces.Help.id });
    assert.equal(second.section, undefined);
    const { data: third } = await api.addSpaceToSite(org, small.id, { spaceId: spaces.Loose.id });
    const ids = async (query) => (await all((q) => api.listSiteSpaces(org, small.id, { ...query, ...q }), 2)).map((s) => s.id);
    assert.deepEqual(await ids({}), [first.items[0].id, second.id, third.id]);
    assert.deepEqual(await ids({ default: false }), [second.id, third.id]);
    await api.moveSiteSpace(org, small.id, third.id, { position: { after: { type: 'site-space', siteSpace: first.items[0].id } } });
    assert.deepEqual(await ids({}), [first.items[0].id, third.id, second.id]);
    await refused(api.moveSiteSpace(org, small.id, third.id, { position: { after: { type: 'site-space', siteSpace: 'nothing' } } }), 400);
    await refused(api.moveSiteSpace(org, small.id, 'nothing', {}), 404);
    const { data: structure } = await api.getSiteStructure(org, small.id);
    assert.equal(structure.type, 'siteSpaces');

    const { data: changed } = await api.updateSiteSpaceById(org, small.id, second.id, { path: 'assistance', condition: 'visitor.claims.beta', hidden: true });
    assert.deepEqual([changed.path, changed.condition, changed.hidden], ['assistance', 'visitor.claims.beta', true]);
    const { data: shown } = await api.updateSiteSpaceById(org, small.id, second.id, { condition: null, hidden: false, spaceId: spaces.Changelog.id });
    assert.deepEqual([shown.path, shown.condition, Boolean(shown.hidden), shown.space.id], ['assistance', undefined, false, spaces.Changelog.id]);
    await api.updateSiteById(org, small.id, { defaultSiteSpace: second.id });
    assert.deepEqual(await ids({ default: true }), [second.id]);
});

await step('a section is removed, and removing it again changes nothing', async () => {
    await api.deleteSiteSectionById(org, docs.id, sections.help.id);
    await api.deleteSiteSectionById(org, docs.id, sections.help.id);
    assert.ok(!(await listed()).includes('Help'));
});

await step('who may not, cannot', async () => {
    await bob.api.orgs.listSiteSections(org, docs.id);
    await refused(bob.api.orgs.addSectionToSite(org, docs.id, { spaceId: spaces.Help.id }), 403);
    await refused(bob.api.orgs.deleteSiteSectionById(org, docs.id, sections.api.id), 403);
    await refused(eve.api.orgs.listSiteSections(org, docs.id), 404);
    await refused(eve.api.orgs.getSiteStructure(org, docs.id), 404);
});

await step('bad input is named', async () => {
    const path = `/orgs/${org}/sites/${docs.id}`;
    await badField(ada, 'POST', `${path}/sections`, {}, 'spaceId');
    await badField(ada, 'POST', `${path}/sections`, { spaceId: spaces.Help.id, title: 'x' }, 'title');
    await badField(ada, 'PATCH', `${path}/sections/${sections.api.id}`, { title: null }, 'title');
    await badField(ada, 'PATCH', `${path}/sections/${sections.api.id}`, { condition: 'x'.repeat(1025) }, 'condition');
    await badField(ada, 'POST', `${path}/site-spaces`, {}, 'spaceId');
    await badField(ada, 'POST', `${path}/section-groups`, { title: '' }, 'title');
    await badField(ada, 'GET', `${path}/site-spaces?default=maybe`, undefined, 'default');
});
