// Writes drawbridge.schema.json from the schema of the configuration. Run `npm run config-schema` after every change of a setting.
import { writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { editorSchema } from '../src/config/editor-schema.ts'

export const SCHEMA_FILE = join(resolve(import.meta.dirname, '..'), 'drawbridge.schema.json')

export const schemaText = (): string => `${JSON.stringify(editorSchema(), null, 2)}\n`

if (import.meta.main) writeFileSync(SCHEMA_FILE, schemaText())
