// Queries about the operations in OpenAPI references that readers open and try.
import type { State } from './address'
import { ask, sent, type } from './queries'

export function openapiQueries(s: State) {
  const { query, list, series } = ask(s)
  const looks = [...sent[s.who], type('api_client_open')]
  const tries = [...sent[s.who], type('api_client_request')]
  return {
    looks: query(['eventsCount', 'peopleCount'], looks),
    tries: query(['eventsCount', 'peopleCount'], tries),
    looksSeries: series(looks),
    triesSeries: series(tries),
    operations: list('eventAPIOperationPath', 'eventsCount', looks),
    tried: list('eventAPIOperationPath', 'eventsCount', tries),
    methods: list('eventAPIOperationMethod', 'eventsCount', tries),
    operationPages: list('urlPath', 'eventsCount', looks),
    operationLanguages: list('visitorLanguage', 'eventsCount', looks),
    operationCountries: list('visitorGeoCountry', 'eventsCount', looks),
  }
}
