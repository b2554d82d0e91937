import { existsSync } from 'node:fs'
import { IssueFault } from '../contract.ts'
import { accountKeyFile, accountKeyPath } from '../issued-files.ts'
import { createPrivateFile } from '../private-file.ts'
import { checkedKey, keyIn } from '../private-key.ts'

export interface AccountKeySource {
  readonly stateDir: string
  readonly directory: string
  /** PEM, from the configuration: in place of the one in the state folder. */
  readonly accountKey?: string | undefined
}

/** The key of our account at the directory, as PEM. Made on first use where the configuration gives none. */
export async function accountKeyOf({ stateDir, directory, accountKey }: AccountKeySource): Promise<string> {
  if (accountKey !== undefined)
    return checkedKey(accountKey, 'The file that acme.accountKeyFile names holds no private key.')
  return keyIn(await accountKeyFile(stateDir, directory))
}

/** Writes the key to a new file for its owner alone. Makes no account, and replaces no file. */
export async function exportAccountKey(source: AccountKeySource, to: string): Promise<void> {
  if (source.accountKey === undefined && !existsSync(accountKeyPath(source.stateDir, source.directory)))
    throw new IssueFault('local', `There is no account at ${source.directory} yet: nothing was ever ordered there.`)
  const pem = await accountKeyOf(source)
  await createPrivateFile(to, pem).catch((error: NodeJS.ErrnoException) => {
    throw error.code === 'EEXIST'
      ? new IssueFault('local', `The file ${to} is there already and was left alone.`)
      : error
  })
}
