import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ConfigFiles } from '../../../../src/estate/reading/text/config-files.ts'
import { Included } from '../../../../src/estate/reading/text/included.ts'
import { tempFolder } from '../../../support/temp-folder.ts'
import { unreadable } from '../../../support/unreadable.ts'

/** The names of the directives, what was not read, and the first of it that may hide where servers listen. */
function reading(files: ConfigFiles, main: string) {
  files.begin()
  const included = new Included(files, main)
  const names = [...included.main()].map(({ name }) => name)
  files.end()
  return { names, broken: included.broken(), hidesListens: included.hidesListens }
}

function written() {
  const temp = tempFolder()
  const at = (name: string) => join(temp.path, name)
  mkdirSync(at('sites'))
  writeFileSync(at('nginx.conf'), 'http {}\ninclude sites/*.conf;\n')
  writeFileSync(at('sites/a.conf'), 'events {}\n')
  return { at, main: at('nginx.conf'), [Symbol.dispose]: () => temp[Symbol.dispose]() }
}

const PASSING = ['EMFILE', 'EIO', 'ENOMEM']

test.each(PASSING)('a file that once cannot be read (%s) is told, and read by the next reading', (code) => {
  using files = written()
  const cache = new ConfigFiles()
  const place = { path: files.at('sites/a.conf'), line: null, sentence: `the file cannot be read (${code})` }
  {
    using _ = unreadable((path) => path.endsWith('/a.conf'), code)
    expect(reading(cache, files.main)).toEqual({ names: ['http'], broken: [place], hidesListens: place })
  }
  // Whoever asks whether a path has changed since the reading is told so.
  expect(cache.seen.get(place.path)).toMatchObject({ fault: code })
  expect(reading(cache, files.main)).toEqual({ names: ['http', 'events'], broken: [], hidesListens: undefined })
})

test.each([...PASSING, 'EACCES'])('a folder that cannot be listed (%s) is told, and is not an empty one', (code) => {
  using files = written()
  const cache = new ConfigFiles()
  const place = { path: files.at('sites'), line: null, sentence: `the folder cannot be listed (${code})` }
  {
    using _ = unreadable((path) => path.endsWith('/sites'), code)
    expect(reading(cache, files.main)).toEqual({ names: ['http'], broken: [place], hidesListens: place })
  }
  // The rights of a folder do not change without its stamp.
  if (code === 'EACCES') utimesSync(files.at('sites'), 1, 1)
  expect(reading(cache, files.main)).toEqual({ names: ['http', 'events'], broken: [], hidesListens: undefined })
})

test('a folder that is not there, or is none, has no names', () => {
  using files = written()
  for (const pattern of ['gone/*.conf', 'nginx.conf/*.conf', '*/*/x.conf']) {
    writeFileSync(files.main, `http {}\ninclude ${pattern};\n`)
    expect(reading(new ConfigFiles(), files.main)).toMatchObject({ names: ['http'], broken: [] })
  }
})
