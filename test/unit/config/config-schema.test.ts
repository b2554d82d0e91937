import { readFileSync } from 'node:fs'
import { Check } from 'typebox/schema'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { SCHEMA_FILE, schemaText } from '../../../bin/config-schema.ts'
import { editorSchema } from '../../../src/config/editor-schema.ts'

const isValid = (text: string): boolean => Check(editorSchema(), parse(text))
const MINIMAL = 'zones: { example.test: { primary: 192.168.45.253 } }\n'

test('the committed schema is the one that the settings have: write it again with `npm run config-schema`', () => {
  expect(readFileSync(SCHEMA_FILE, 'utf8')).toBe(schemaText())
})

test('an editor accepts the example file and the smallest file', () => {
  expect(isValid(readFileSync('drawbridge.example.yaml', 'utf8'))).toBe(true)
  expect(isValid(MINIMAL)).toBe(true)
})

test.each(['flow: open', 'listen: { port: 70000 }', 'flwo: legacy', 'zones: { a.test: {} }', 'webhooks: { a: {} }'])(
  'an editor marks %s',
  (setting) => {
    expect(isValid(setting.startsWith('zones') ? setting : MINIMAL + setting)).toBe(false)
  },
)
