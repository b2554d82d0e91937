// Writes docs/openapi.json from the routes, and src/client/schema.ts from that file. Run `npm run openapi` after every change
// of a route.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import openapiTypescript, { astToString, type OpenAPI3 } from 'openapi-typescript'
import { assemble } from '../src/compose/assemble.ts'
import { readConfig } from '../src/config/config.ts'
import { createLog } from '../src/runtime/log.ts'

const ROOT = resolve(import.meta.dirname, '..')
export const DOCUMENT_FILE = join(ROOT, 'docs', 'openapi.json')
export const TYPES_FILE = join(ROOT, 'src', 'client', 'schema.ts')

/** The body of `GET /api/openapi.json`. */
export async function apiDocument(): Promise<OpenAPI3> {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-openapi-'))
  const settings = `stateDir: ${join(folder, 'state')}\nzones: { example.test: { primary: 127.0.0.1 } }\n`
  const service = await assemble(readConfig(settings, join(folder, 'drawbridge.yaml'), {}), createLog('silent', []))
  try {
    await service.app.ready()
    return JSON.parse(JSON.stringify(service.app.swagger()))
  } finally {
    await service.app.close()
    await service.store.close()
    rmSync(folder, { recursive: true, force: true })
  }
}

export const documentText = (document: OpenAPI3): string => `${JSON.stringify(document, null, 2)}\n`

export async function typesText(document: OpenAPI3): Promise<string> {
  const types = astToString(await openapiTypescript(document))
  return `// Written by \`npm run openapi\` from docs/openapi.json. Do not edit.\n${types}`
}

export const readCommitted = (): { document: string; types: string } => ({
  document: readFileSync(DOCUMENT_FILE, 'utf8'),
  types: readFileSync(TYPES_FILE, 'utf8'),
})

if (import.meta.main) {
  const document = await apiDocument()
  writeFileSync(DOCUMENT_FILE, documentText(document))
  writeFileSync(TYPES_FILE, await typesText(document))
}
