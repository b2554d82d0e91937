import { expect, test } from 'vitest'
import { lastOutput } from '../../../lab/last-output.ts'

test.each([
  ['a plain line', 'starting\nno such zone file\n', 'no such zone file'],
  ['the message of a JSON line', '{"level":"info","msg":"up"}\n{"level":"fatal","msg":"store lost"}\n', 'store lost'],
  [
    'the error above its stack',
    "Error: boom\n    at run (a.js:1:1) {\n  code: 'X'\n}\n\nNode.js v24.0.0\n",
    'Error: boom',
  ],
  ['the reason, not the end', 'loading the zone: failure\nexiting (due to fatal error)\n', 'loading the zone: failure'],
  ['no output', '\n', '(no output)'],
])('%s', (_, output, words) => expect(lastOutput(output)).toBe(words))
