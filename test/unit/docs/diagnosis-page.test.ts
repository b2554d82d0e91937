import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CAUSE_CODES } from '../../../src/diagnose/causes.ts'
import { LINKS } from '../../../src/diagnose/chain.ts'
import { DiagnosisBody } from '../../../src/http/schemas/diagnosis-schemas.ts'

const page = readFileSync('docs/diagnosis.md', 'utf8')
const [, chain = '', causes = ''] = page.split(/^## The (?:chain|causes)$/m)
const rowsOf = (section: string) => [...section.matchAll(/^\| `([a-z_0-9]+)` \|/gm)].map(([, code]) => code)

test('docs/diagnosis.md and the table of causes agree, both ways', () =>
  expect(rowsOf(causes).toSorted()).toEqual([...CAUSE_CODES].toSorted()))

test('docs/diagnosis.md tells the links in their order', () => expect(rowsOf(chain)).toEqual([...LINKS]))

test('its example has every member that an answer has', () => {
  const example = JSON.parse(/```json\n([\s\S]+?)```/.exec(page)?.[1] ?? '')
  expect(Object.keys(example).toSorted()).toEqual(Object.keys(DiagnosisBody.properties).toSorted())
})
