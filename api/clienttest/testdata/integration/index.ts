// A small integration of the published runtime: when it is installed, it leaves a mark on its installation, with the token that it got.
import { createIntegration } from '@gitbook/runtime';

export default createIntegration({
    fetch: async () => new Response('echo'),
    events: {
        installation_setup: async (event, context) => {
            const { integration, installation } = context.environment;
            if (!installation || installation.externalIds.length > 0) {
                return; // It is its own mark that it hears of.
            }
            const { data: known } = await context.integration.api.integrations.listIntegrationInstallations(integration.name);
            await context.api.integrations.updateIntegrationInstallation(integration.name, installation.id, {
                externalIds: [`seen by version ${integration.version}`, `one of ${known.count}`, event.type],
            });
        },
    },
});
