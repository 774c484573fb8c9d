// This scenario has an organization with teams and with members of several roles. It checks the access of each member,
// and that users who are not members have no access.
import assert from 'node:assert/strict';
import { all, badField, begin, leadsTo, refused, step, withToken } from '../lib/scenario.mjs';

const { ada, bob, cy, dee, eve, org } = await begin('Organization', { bob: 'edit', cy: 'read', dee: null });

await step('the published client says who it acts for', async () => {
    const { data } = await ada.api.user.getAuthenticatedUser();
    assert.equal(data.email, 'ada@organization.example.com');
});

await step('an organization is created, found and renamed', async () => {
    const made = await ada.http('POST', '/orgs', { title: 'Second organization' });
    assert.equal(made.status, 201);
    await leadsTo(ada, made);
    const mine = await all((q) => ada.api.orgs.listOrganizationsForAuthenticatedUser(q), 1);
    assert.ok(mine.some((o) => o.id === org) && mine.some((o) => o.id === made.data.id));
    const { data: renamed } = await ada.api.orgs.updateOrganizationById(made.data.id, { title: 'Renamed', defaultRole: 'read' });
    assert.equal(renamed.title, 'Renamed');
    assert.equal(renamed.defaultRole, 'read');
    assert.deepEqual((await ada.api.orgs.getOrganizationById(made.data.id)).data, renamed);
});

await step('permissions follow the role', async () => {
    const permissions = async (person) => (await person.api.orgs.getOrganizationById(org)).data.permissions;
    assert.ok((await permissions(ada)).admin);
    for (const person of [bob, cy]) {
        const p = await permissions(person);
        assert.ok(p.view && !p.admin && !p.createContent, JSON.stringify(p));
    }
});

await step('members are listed, read and given another role', async () => {
    const members = await all((q) => ada.api.orgs.listMembersInOrganizationById(org, q), 2);
    const roles = Object.fromEntries(members.map((m) => [m.user.displayName, m.role]));
    assert.deepEqual(roles, { ada: 'admin', bob: 'edit', cy: 'read', dee: null });
    const { data: readers } = await ada.api.orgs.listMembersInOrganizationById(org, { role: 'read' });
    assert.deepEqual(readers.items.map((m) => m.id), [cy.id]);
    const { data: found } = await ada.api.orgs.listMembersInOrganizationById(org, { search: 'bob' });
    assert.deepEqual(found.items.map((m) => m.id), [bob.id]);
    const { data: promoted } = await ada.api.orgs.updateMemberInOrganizationById(org, cy.id, { role: 'review' });
    assert.equal(promoted.role, 'review');
    assert.equal((await ada.api.orgs.getMemberInOrganizationById(org, cy.id)).data.role, 'review');
});

await step('a team is made and its members change', async () => {
    const { data: team } = await ada.api.orgs.createOrganizationTeam(org, { title: 'Writers', members: [bob.id] });
    assert.equal(team.title, 'Writers');
    assert.equal(team.members, 1);
    await ada.api.orgs.updateMembersInOrganizationTeam(org, team.id, { add: [cy.id, dee.id], remove: [bob.id] });
    const teams = await all((q) => ada.api.orgs.listTeamsInOrganizationById(org, q), 5);
    assert.deepEqual(teams.map((t) => [t.id, t.members]), [[team.id, 2]]);
});

await step('a presence is noted', async () => {
    await bob.api.orgs.updateOrganizationMemberLastSeenAt(org);
    const { data } = await ada.api.orgs.getMemberInOrganizationById(org, bob.id);
    assert.ok(data.lastSeenAt, 'lastSeenAt is set');
});

await step('spaces and sites of the organization are listed', async () => {
    const { data: handbook, headers } = await ada.api.orgs.createSpace(org, { title: 'Handbook', emoji: '1f4d6', language: 'en' });
    await leadsTo(ada, { data: handbook, headers });
    const { data: site } = await ada.api.orgs.createSite(org, { title: 'Docs', spaces: [handbook.id] });
    assert.equal(site.siteSpaces, 1);
    assert.deepEqual((await all((q) => ada.api.orgs.listSpacesInOrganizationById(org, q), 5)).map((s) => s.id), [handbook.id]);
    assert.deepEqual((await all((q) => ada.api.orgs.listSites(org, q), 5)).map((s) => s.id), [site.id]);
    assert.deepEqual((await ada.api.orgs.getSiteById(org, site.id)).data, site);
    assert.deepEqual((await ada.api.orgs.listSites(org, { title: 'nothing like it' })).data.items, []);
});

await step('strangers learn nothing, and bad tokens less', async () => {
    await refused(eve.api.orgs.getOrganizationById(org), 404);
    await refused(eve.api.orgs.listMembersInOrganizationById(org), 404);
    await refused(bob.api.orgs.updateOrganizationById(org, { title: 'Mine now' }), 403);
    for (const token of ['', 'nonsense-that-is-long-enough-to-be-one']) {
        const { status } = await withToken(token)('GET', `/orgs/${org}`);
        assert.equal(status, 401);
    }
});

await step('bad input is named', async () => {
    await badField(ada, 'POST', '/orgs', { title: 'x' }, 'title');
    await badField(ada, 'PATCH', `/orgs/${org}`, { defaultRole: 'owner' }, 'defaultRole');
    await badField(ada, 'GET', `/orgs/${org}/members?limit=1001`, undefined, 'limit');
    await refused(ada.api.orgs.listMembersInOrganizationById(org, { limit: -1 }), 400);
});
