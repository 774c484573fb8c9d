// This scenario has a change request from its draft to its merge. The change request is edited, discussed, reviewed,
// updated after the main content has changed, merged, and exported as a PDF.
import assert from 'node:assert/strict';
import {
    all, badField, begin, edit, insertPage, leadsTo, paragraph, propose, publish, refused, space, step, textOf, until,
} from '../lib/scenario.mjs';

const { ada, bob, cy, dee, eve, org, url } = await begin('Review', { bob: 'edit', cy: 'review', dee: 'comment' });
let guide, pages, request, remark;
const at = () => [guide.id, request.id];
const current = async () => (await bob.api.spaces.getChangeRequestById(...at())).data;
const markdown = async (id) => (await ada.api.spaces.getPageById(guide.id, id, { format: 'markdown' })).data.markdown;

await step('a space with two pages', async () => {
    guide = await space(ada, org, 'Guide');
    pages = await publish(ada, guide.id, 'First pages', [
        insertPage('Install', 'Download the program.\n\nRun the program.'), insertPage('Configure', 'Write a file.'),
    ]);
    assert.deepEqual(pages.map((p) => p.title).slice(-2), ['Install', 'Configure']);
    pages = Object.fromEntries(pages.map((p) => [p.title, p.id]));
});

await step('a draft is made', async () => {
    const made = await bob.api.spaces.createChangeRequest(guide.id, { subject: 'Say how to verify the download' });
    request = made.data;
    assert.equal(request.status, 'draft');
    assert.equal(request.createdBy.id, bob.id);
    assert.equal(request.space, guide.id);
    assert.equal(request.outdated, false);
    assert.equal(request.comments, 0);
    assert.equal(request.revisionInitial, (await bob.api.spaces.getSpaceById(guide.id)).data.revision);
    assert.equal(request.revisionMerged, undefined);
    await leadsTo(bob, made);
    // A change request can be read by its number, too.
    assert.deepEqual((await bob.api.spaces.getChangeRequestById(guide.id, String(request.number))).data, request);
});

await step('its content is written; the main content stays', async () => {
    await edit(bob, ...at(), [
        { operation: 'update_page', page: pages.Install, document: { markdown: 'Download the program.\n\nCompare its checksum.\n\nRun the program.' } },
        insertPage('Verify', 'How to compare checksums.'),
    ]);
    const now = await current();
    assert.notEqual(now.revision, request.revision);
    assert.equal(now.revisionInitial, request.revisionInitial);
    const { data: drafted } = await bob.api.spaces.listPagesInChangeRequest(...at());
    assert.ok(drafted.pages.some((p) => p.title === 'Verify'));
    const { data: main } = await bob.api.spaces.listPages(guide.id);
    assert.ok(!main.pages.some((p) => p.title === 'Verify'));
    assert.equal((await bob.api.spaces.getRevisionOfChangeRequestById(...at())).data.id, now.revision);
});

await step('it is described and opened', async () => {
    const { data: opened } = await bob.api.spaces.updateChangeRequestById(...at(), {
        subject: 'How to verify the download', description: paragraph('People asked for it.'), status: 'open',
    });
    assert.equal(opened.status, 'open');
    assert.equal(opened.subject, 'How to verify the download');
    assert.equal(textOf(opened.description), 'People asked for it.');
});

await step('reviewers are asked for', async () => {
    const { data: asked } = await bob.api.spaces.requestReviewersForChangeRequest(...at(), { users: [cy.id, ada.id] });
    assert.deepEqual(asked.users.map((r) => r.user.id).sort(), [cy.id, ada.id].sort());
    assert.ok(asked.users.every((r) => r.kind === 'user' && r.requestedBy.id === bob.id));
    await bob.api.spaces.removeRequestedReviewerFromChangeRequest(...at(), ada.id);
    await bob.api.spaces.removeRequestedReviewerFromChangeRequest(...at(), ada.id);
    const left = await all((q) => bob.api.spaces.getRequestedReviewersByChangeRequestId(...at(), q), 1, (r) => r.user.id);
    assert.deepEqual(left.map((r) => r.user.id), [cy.id]);
    const { data: mine } = await cy.api.spaces.listChangeRequestsForSpace(guide.id, { requestedReviewer: cy.id });
    assert.deepEqual(mine.items.map((c) => c.id), [request.id]);
});

await step('it is discussed', async () => {
    ({ data: remark } = await cy.api.spaces.postCommentInChangeRequest(...at(), { body: { markdown: 'Which checksum?' }, page: pages.Install }));
    assert.equal(remark.target.changeRequest, request.id);
    assert.equal(remark.target.page.id, pages.Install);
    assert.equal((await current()).comments, 1);
    const { data: reply } = await bob.api.spaces.postCommentReplyInChangeRequest(...at(), remark.id, { body: { markdown: 'SHA-256.' } }, { format: 'document' });
    assert.equal(textOf(reply.body.document), 'SHA-256.');
    await dee.api.spaces.postCommentReplyInChangeRequest(...at(), remark.id, { body: { markdown: 'Good.' } });
    const replies = await all((q) => cy.api.spaces.listCommentRepliesInChangeRequest(...at(), remark.id, { ...q, format: 'markdown' }), 1);
    assert.deepEqual(replies.map((r) => r.postedBy.id).sort(), [bob.id, dee.id].sort());
    // A change request can be addressed by its number or by its id.
    const { data: same } = await cy.api.spaces.getCommentInChangeRequest(guide.id, String(request.number), remark.id);
    assert.equal(same.replies, 2);
    const { data: resolved } = await bob.api.spaces.updateCommentInChangeRequest(...at(), remark.id, { addedReactions: ['1f44d'] });
    assert.equal(resolved.reactions[0].count, 1);
    assert.equal((await cy.api.spaces.updateCommentInChangeRequest(...at(), remark.id, { resolved: true })).data.status, 'resolved');
    assert.equal((await current()).comments, 0);
});

await step('its comments are listed and removed', async () => {
    const { data: extra } = await dee.api.spaces.postCommentInChangeRequest(...at(), { body: { markdown: 'By the way.' } });
    const ids = async (query) => (await all((q) => cy.api.spaces.listCommentsInChangeRequest(...at(), { ...query, ...q }), 1)).map((c) => c.id);
    assert.deepEqual(await ids({}), [extra.id, remark.id]);
    assert.deepEqual(await ids({ order: 'asc' }), [remark.id, extra.id]);
    assert.deepEqual(await ids({ status: 'open' }), [extra.id]);
    assert.deepEqual(await ids({ authors: [cy.id] }), [remark.id]);
    assert.deepEqual(await ids({ targetPage: pages.Install }), [remark.id]);
    await dee.api.spaces.deleteCommentInChangeRequest(...at(), extra.id);
    await dee.api.spaces.deleteCommentInChangeRequest(...at(), extra.id);
    await refused(dee.api.spaces.getCommentInChangeRequest(...at(), extra.id), 404);
});

await step('a rule keeps it from being merged before its reviewer approves', async () => {
    const { data: ruled } = await ada.api.spaces.updateSpaceById(guide.id, {
        mergeRules: { type: 'rules', rules: [{ rule: 'require_specific_reviewers', users: [cy.id] }] },
    });
    assert.deepEqual(ruled.mergeRules.rules, [{ rule: 'require_specific_reviewers', users: [cy.id] }]);
    await refused(cy.api.spaces.mergeChangeRequest(...at()), 403, 409, 412);
    assert.equal((await current()).status, 'open');
    const { data: review } = await cy.api.spaces.submitChangeRequestReview(...at(), { status: 'changes-requested', comment: { markdown: 'Name the algorithm.' } });
    assert.equal(review.reviewer.id, cy.id);
    await refused(cy.api.spaces.mergeChangeRequest(...at()), 403, 409, 412);
    await refused(dee.api.spaces.submitChangeRequestReview(...at(), { status: 'approved' }), 403);
});

await step('it is overtaken, and brought up to date', async () => {
    // The main content gets another revision with the same pages. The test below has a page that was changed on both
    // sides.
    const [{ data: other }, { data: idle }] = await Promise.all(
        ['Elsewhere', 'Idle'].map((subject) => ada.api.spaces.createChangeRequest(guide.id, { subject })));
    await ada.api.spaces.updateSpaceById(guide.id, { mergeRules: { type: 'none' } });
    const { data: went } = await ada.api.spaces.mergeChangeRequest(guide.id, other.id);
    assert.equal(went.result, 'merge');
    assert.deepEqual((await ada.api.spaces.updateChangeRequest(guide.id, idle.id)).data, { result: 'update', revision: went.revision });
    assert.equal((await current()).outdated, true);
    const { data: updated } = await bob.api.spaces.updateChangeRequest(...at());
    assert.equal(updated.result, 'update');
    const now = await current();
    assert.equal(now.outdated, false);
    assert.equal(now.revision, updated.revision);
    assert.ok(now.revisionMergedAncestor);
    // The change request still has its changes.
    const { data: drafted } = await bob.api.spaces.listPagesInChangeRequest(...at());
    assert.ok(drafted.pages.some((p) => p.title === 'Verify'));
});

await step('it is approved and merged', async () => {
    const { data: review } = await cy.api.spaces.submitChangeRequestReview(...at(), { status: 'approved' });
    assert.equal(review.status, 'approved');
    const reviews = await all((q) => cy.api.spaces.getReviewsByChangeRequestId(...at(), q), 1);
    assert.ok(reviews.some((r) => r.id === review.id));
    await refused(bob.api.spaces.mergeChangeRequest(...at()), 403);
    const { data: merged } = await cy.api.spaces.mergeChangeRequest(...at());
    assert.equal(merged.result, 'merge');
    const now = await current();
    assert.equal(now.status, 'merged');
    assert.equal(now.revisionMerged, merged.revision);
    const { data: main } = await ada.api.spaces.getSpaceById(guide.id);
    assert.equal(main.revision, merged.revision);
    assert.match(await markdown(pages.Install), /Compare its checksum/);
    assert.match(await markdown(pages.Configure), /Write a file/);
    assert.equal((await ada.api.spaces.getCurrentRevision(guide.id)).data.id, merged.revision);
    assert.ok((await ada.api.spaces.getRevisionById(guide.id, merged.revision)).data.parents.length > 0);
});

await step('what two requests change in different places merges', async () => {
    const one = await propose(bob, guide.id, 'Title', [{ operation: 'update_page', page: pages.Configure, description: 'How to configure it.' }]);
    const two = await propose(bob, guide.id, 'Text', [
        { operation: 'update_page', page: pages.Configure, document: { markdown: 'Write a file.\n\nRead it again.' } },
        { operation: 'insert_page', title: 'Uninstall' },
    ]);
    assert.equal((await cy.api.spaces.mergeChangeRequest(guide.id, one.id)).data.result, 'merge');
    assert.equal((await cy.api.spaces.mergeChangeRequest(guide.id, two.id)).data.result, 'merge');
    assert.match(await markdown(pages.Configure), /Write a file\.\n\nRead it again/);
    const { data: page } = await ada.api.spaces.getPageById(guide.id, pages.Configure);
    assert.equal(page.description, 'How to configure it.');
});

await step('what conflicts is reported, not resolved', async () => {
    const write = (subject, text) => propose(bob, guide.id, subject, [
        { operation: 'update_page', page: pages.Configure, document: { markdown: text } },
    ]);
    const [first, second] = [await write('One', 'Write a long file.'), await write('Two', 'Write no file.')];
    assert.equal((await cy.api.spaces.mergeChangeRequest(guide.id, first.id)).data.result, 'merge');
    assert.equal((await cy.api.spaces.mergeChangeRequest(guide.id, second.id)).data.result, 'conflicts');
    assert.notEqual((await cy.api.spaces.getChangeRequestById(guide.id, second.id)).data.status, 'merged');
    assert.match(await markdown(pages.Configure), /Write a long file/);
    assert.equal((await bob.api.spaces.updateChangeRequest(guide.id, second.id)).data.result, 'conflicts');
});

await step('it is printed', async () => {
    const print = async (query) => {
        const { data } = await bob.api.spaces.getChangeRequestPdf(...at(), query);
        const response = await until('PDF', async () => {
            const answer = await fetch(new URL(data.url, url), { headers: { authorization: `Bearer ${bob.token}` } });
            return answer.status !== 503 && answer; // on a busy machine, the PDF may not be ready yet
        });
        assert.equal(response.status, 200, data.url);
        const bytes = Buffer.from(await response.arrayBuffer());
        assert.equal(bytes.subarray(0, 5).toString('latin1'), '%PDF-');
        return bytes.length;
    };
    assert.ok(await print() > 0);
    assert.ok(await print({ only: true, page: pages.Install }) > 0);
});

await step('who may not, cannot', async () => {
    await refused(dee.api.spaces.createChangeRequest(guide.id, { subject: 'Mine' }), 403);
    await refused(dee.api.spaces.updateChangeRequestById(...at(), { subject: 'Mine' }), 403);
    await refused(eve.api.spaces.getChangeRequestById(...at()), 404);
    await refused(bob.api.spaces.getChangeRequestById(guide.id, '999999'), 404);
});

await step('bad input is named', async () => {
    const path = `/spaces/${guide.id}/change-requests/${request.id}`;
    await badField(bob, 'PATCH', path, { status: 'merged' }, 'status');
    await badField(bob, 'PATCH', path, { subject: 'x'.repeat(101) }, 'subject');
    await badField(bob, 'POST', `${path}/requested-reviewers`, {}, 'users');
    await badField(cy, 'POST', `${path}/reviews`, { status: 'maybe' }, 'status');
    await badField(bob, 'GET', `/spaces/${guide.id}/change-requests?status=closed`, undefined, 'status');
    await badField(cy, 'POST', `${path}/comments`, {}, 'body');
});
