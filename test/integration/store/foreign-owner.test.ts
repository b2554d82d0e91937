import { chmodSync, chownSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { isRoot } from '../../../lab/program.ts'
import { foreignOwner } from '../../../src/store/dialects/file-owner.ts'
import { openStore } from '../../../src/store/open.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const NOBODY = 65_534

test('files of this user are not foreign', () => {
  using folder = tempFolder()
  const file = join(folder.path, 'drawbridge.db')
  writeFileSync(file, '')
  expect(foreignOwner(file)).toBeUndefined()
})

test.runIf(isRoot())('a store of root is refused to another user with the owner and the command', async () => {
  using folder = tempFolder()
  const file = join(folder.path, 'drawbridge.db')
  await (await openStore({ kind: 'sqlite', file })).close()
  chmodSync(file, 0o600)
  chownSync(folder.path, NOBODY, NOBODY)
  process.seteuid?.(NOBODY)
  try {
    const refusal = await openStore({ kind: 'sqlite', file }).then(
      () => undefined,
      (error: Error) => error.message,
    )
    expect(refusal).toContain(`${file} belongs to root; this is user nobody. Run: chown -R nobody: ${folder.path}`)
  } finally {
    process.seteuid?.(0)
  }
})
