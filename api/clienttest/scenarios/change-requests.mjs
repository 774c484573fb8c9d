// This scenario creates many change requests in two spaces. It finds them by status, by author and by the reviewer from
// whom a review is still missing, and counts, archives and reopens them.
import assert from 'node:assert/strict';
import { all, begin, edit, insertPage, refused, space, step } from '../lib/scenario.mjs';

const { ada, bob, cy, org } = await begin('Change requests', { bob: 'edit', cy: 'review' });
let guide, other;
const made = {};
const names = (list) => list.map((c) => c.subject);
const listed = async (query, spaceId = guide.id) => names(await all((q) => ada.api.spaces.listChangeRequestsForSpace(spaceId, { ...query, ...q }), 2)).sort();
const counts = async () => {
    const { data } = await ada.api.spaces.getSpaceById(guide.id);
    return [data.changeRequests, data.changeRequestsOpen, data.changeRequestsDraft];
};

await step('six requests in one space, one in another', async () => {
    guide = await space(ada, org, 'Guide');
    other = await space(ada, org, 'Other');
    for (const [person, subject, where] of [
        [ada, 'draft a', guide], [bob, 'draft b', guide], [ada, 'open a', guide], [bob, 'open b', guide], [bob, 'put aside', guide],
        [bob, 'merged', guide], [bob, 'open elsewhere', other],
    ]) {
        ({ data: made[subject] } = await person.api.spaces.createChangeRequest(where.id, { subject }));
    }
    assert.deepEqual(await counts(), [6, 0, 6]);
    const set = (subject, status) => ada.api.spaces.updateChangeRequestById(made[subject].space, made[subject].id, { status });
    for (const subject of ['open a', 'open b', 'merged', 'open elsewhere']) {
        await set(subject, 'open');
    }
    await set('put aside', 'archived');
    await edit(bob, guide.id, made.merged.id, [insertPage('New', 'Text.')]);
    await cy.api.spaces.mergeChangeRequest(guide.id, made.merged.id);
});

await step('numbers count up within a space', async () => {
    const numbers = Object.values(made).filter((c) => c.space === guide.id).map((c) => c.number);
    assert.deepEqual(numbers, [1, 2, 3, 4, 5, 6]);
    assert.equal(made['open elsewhere'].number, 1);
    assert.equal((await cy.api.spaces.getChangeRequestById(guide.id, '3')).data.subject, 'open a');
});

await step('the list shows open ones unless asked otherwise', async () => {
    assert.deepEqual(await listed({}), ['open a', 'open b']);
    assert.deepEqual(await listed({ status: 'open' }), ['open a', 'open b']);
    assert.deepEqual(await listed({ status: 'draft' }), ['draft a', 'draft b']);
    assert.deepEqual(await listed({ status: 'archived' }), ['put aside']);
    assert.deepEqual(await listed({ status: 'merged' }), ['merged']);
    assert.deepEqual(await counts(), [6, 2, 2]);
});

await step('the list is narrowed by people and clusters', async () => {
    await bob.api.spaces.requestReviewersForChangeRequest(guide.id, made['open b'].id, { users: [cy.id] });
    assert.deepEqual(await listed({ creator: bob.id }), ['open b']);
    assert.deepEqual(await listed({ creator: bob.id, status: 'draft' }), ['draft b']);
    assert.deepEqual(await listed({ requestedReviewer: cy.id }), ['open b']);
    assert.deepEqual(await listed({ requestedReviewer: ada.id }), []);
    assert.deepEqual(await listed({ contributor: bob.id, status: 'merged' }), ['merged']);
    assert.deepEqual(await listed({ conversationsIssuesCluster: 'nothing' }), []);
});

await step('the list is in the order of the last change', async () => {
    await ada.api.spaces.updateChangeRequestById(guide.id, made['open a'].id, { subject: 'open a, renamed' });
    const { data: latest } = await ada.api.spaces.listChangeRequestsForSpace(guide.id, { limit: 1 });
    assert.deepEqual(names(latest.items), ['open a, renamed']);
    await ada.api.spaces.updateChangeRequestById(guide.id, made['open b'].id, { subject: 'open b, renamed' });
    const { data: now } = await ada.api.spaces.listChangeRequestsForSpace(guide.id);
    assert.deepEqual(names(now.items), ['open b, renamed', 'open a, renamed']);
});

await step('an organization sees those of all its spaces', async () => {
    const read = async (query) => names(await all((q) => ada.api.orgs.listChangeRequestsForOrganization(org, { ...query, ...q }), 2));
    const subjects = await read({});
    for (const subject of ['open a, renamed', 'open b, renamed', 'open elsewhere']) {
        assert.ok(subjects.includes(subject), `${subject} in ${subjects}`);
    }
    const bobs = await read({ creator: bob.id });
    assert.ok(bobs.includes('open elsewhere') && !bobs.includes('open a, renamed'));
    assert.deepEqual(await read({ requestedReviewer: cy.id }), ['open b, renamed']);
});

await step('a request that was put aside is taken up', async () => {
    const { data: again } = await bob.api.spaces.updateChangeRequestById(guide.id, made['put aside'].id, { status: 'open' });
    assert.equal(again.status, 'open');
    assert.deepEqual(await counts(), [6, 3, 2]);
});

await step('what is merged stays merged', async () => {
    await refused(cy.api.spaces.mergeChangeRequest(guide.id, made.merged.id), 400, 409, 412);
    await refused(bob.api.spaces.updateChangeRequestById(guide.id, made.merged.id, { status: 'open' }), 400, 409, 412);
    assert.equal((await cy.api.spaces.getChangeRequestById(guide.id, made.merged.id)).data.status, 'merged');
    await refused(cy.api.spaces.getChangeRequestById(other.id, made.merged.id), 404);
});
