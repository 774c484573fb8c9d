// This scenario translates a space with a glossary. It creates, configures, runs and deletes a translation.
import assert from 'node:assert/strict';
import { all, badField, begin, insertPage, leadsTo, paragraph, publish, refused, space, step, textOf } from '../lib/scenario.mjs';

const { ada, bob, eve, org } = await begin('Translations', { bob: 'read' });
const api = ada.api.orgs;
let guide, french;

await step('a space with a page', async () => {
    guide = await space(ada, org, 'Guide', { language: 'en' });
    await publish(ada, guide.id, 'First pages', [insertPage('Install', 'Download the program.')]);
});

await step('a translation is ordered', async () => {
    const made = await api.createTranslation(org, { source: { space: guide.id, language: 'en' }, language: 'fr', instructions: paragraph('Say vous.') });
    french = made.data;
    assert.equal(french.language, 'fr');
    assert.deepEqual(french.source, { space: guide.id, language: 'en' });
    assert.equal(textOf(french.instructions), 'Say vous.');
    assert.equal(french.stats.runs, 0);
    assert.equal(french.result, undefined);
    assert.equal(french.status, 'pending');
    assert.deepEqual(french.permissions, { view: true, edit: true });
    await leadsTo(ada, made);
});

await step('it is listed', async () => {
    const { data: german } = await api.createTranslation(org, { source: { space: guide.id, language: 'en' }, language: 'de' });
    assert.equal(german.instructions.object, 'document');
    const listed = await all((q) => api.listTranslations(org, q), 1);
    assert.deepEqual(listed.map((t) => t.language).sort(), ['de', 'fr']);
    await api.deleteTranslation(org, german.id);
});

await step('it is instructed anew', async () => {
    const { data: changed } = await api.updateTranslation(org, french.id, { instructions: paragraph('Say tu.') });
    assert.equal(textOf(changed.instructions), 'Say tu.');
    assert.equal(changed.language, 'fr');
    assert.ok(changed.updatedAt >= french.updatedAt);
    assert.deepEqual((await api.getTranslation(org, french.id)).data, changed);
});

await step('it is run', async () => {
    await api.runTranslation(org, french.id);
    const { data: now } = await api.getTranslation(org, french.id);
    assert.ok(['pending', 'running', 'completed'].includes(now.status));
    assert.equal(now.stats.runs, now.status === 'completed' ? 1 : 0);
});

await step('terms enter the glossary', async () => {
    const change = (operations) => api.updateGlossaryEntries(org, { operations });
    await change([
        { type: 'insert', translations: { en: 'change request', fr: 'demande de modification' } },
        { type: 'insert', translations: { en: 'space', fr: 'espace', de: 'Bereich' } },
        { type: 'insert', translations: { en: 'site' } },
    ]);
    const entries = async () => Object.fromEntries((await all((q) => api.listGlossaryEntries(org, q), 2)).map((e) => [e.translations.en, e]));
    const first = await entries();
    assert.deepEqual(Object.keys(first).sort(), ['change request', 'site', 'space']);
    assert.deepEqual(first.space.translations, { en: 'space', fr: 'espace', de: 'Bereich' });
    await change([
        { type: 'update', id: first.site.id, translations: { en: 'site', fr: 'site' } },
        { type: 'delete', id: first.space.id },
    ]);
    const second = await entries();
    assert.deepEqual(Object.keys(second).sort(), ['change request', 'site']);
    const { data: site } = await api.getGlossaryEntry(org, first.site.id);
    assert.deepEqual(site.translations, { en: 'site', fr: 'site' });
    assert.ok(site.updatedAt >= site.createdAt);
    await refused(api.getGlossaryEntry(org, first.space.id), 404);
    // If the server refuses a term, it stores no term of the request.
    await badField(ada, 'PUT', `/orgs/${org}/translations-glossary`, {
        operations: [{ type: 'insert', translations: { en: 'fine' } }, { type: 'insert', translations: { en: 'two\nlines' } }],
    }, 'operations[1]');
    assert.deepEqual(Object.keys(await entries()).sort(), ['change request', 'site']);
});

await step('what is not there is not found', async () => {
    await refused(api.getTranslation(org, 'nothing'), 404);
    await refused(api.runTranslation(org, 'nothing'), 404);
    await refused(api.updateTranslation(org, 'nothing', { instructions: paragraph('x') }), 404);
    await refused(api.getGlossaryEntry(org, 'nothing'), 404);
});

await step('who may not, cannot', async () => {
    const order = { source: { space: guide.id, language: 'en' }, language: 'es' };
    await refused(bob.api.orgs.createTranslation(org, order), 403);
    await refused(bob.api.orgs.runTranslation(org, french.id), 403);
    await refused(bob.api.orgs.updateGlossaryEntries(org, { operations: [] }), 403);
    await refused(eve.api.orgs.getTranslation(org, french.id), 404);
    await refused(eve.api.orgs.listGlossaryEntries(org), 404);
});

await step('bad input is named', async () => {
    const path = `/orgs/${org}/translations`;
    const source = { space: guide.id, language: 'en' };
    await badField(ada, 'POST', path, { source }, 'language');
    await badField(ada, 'POST', path, { source, language: 'klingon' }, 'language');
    await badField(ada, 'POST', path, { language: 'es' }, 'source');
    await refused(api.createTranslation(org, { source: { space: 'nothing', language: 'en' }, language: 'es' }), 400, 404);
    await badField(ada, 'PUT', `${path}/${french.id}`, {}, 'instructions');
    await badField(ada, 'PUT', `/orgs/${org}/translations-glossary`, { operations: [{ type: 'forget' }] }, 'type');
    await badField(ada, 'PUT', `/orgs/${org}/translations-glossary`, {}, 'operations');
});

await step('it ends, and ending it again changes nothing', async () => {
    await api.deleteTranslation(org, french.id);
    await api.deleteTranslation(org, french.id);
    await refused(api.getTranslation(org, french.id), 404);
});
