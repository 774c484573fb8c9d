// Sets or ends the development mode of the integration: node development.mjs set <tunnel> | disable
import { GitBookAPI } from '@gitbook/api';

const api = new GitBookAPI({ endpoint: process.env.OCTAVO_URL, authToken: process.env.OCTAVO_TOKEN });
const [, , what, tunnelUrl] = process.argv;
if (what === 'set') {
    await api.integrations.setIntegrationDevelopmentMode('octavo-echo', { tunnelUrl });
} else {
    await api.integrations.disableIntegrationDevelopmentMode('octavo-echo');
}
