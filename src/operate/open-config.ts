import type { Config } from '../config/config.ts'

/** For commands that touch nothing in the state folder. */
export async function configOnly(file: string): Promise<Config> {
  const { loadConfig } = await import('../config/config.ts')
  const { becomeAuthor } = await import('../runtime/owner.ts')
  becomeAuthor(file)
  return loadConfig(file, process.env)
}

/** Reads the file. The result makes this process the owner of the state folder that it names, and then reads secrets as that user. */
async function opened(file: string): Promise<(asRoot?: () => Promise<void>) => Promise<Config>> {
  const { readConfig, readFile, stateDirIn } = await import('../config/config.ts')
  const { assertOfRoot, becomeOwner } = await import('../runtime/owner.ts')
  const text = readFile(file)
  const stateDir = stateDirIn(text, file)
  return async (asRoot) => {
    await becomeOwner(stateDir, file, asRoot)
    const config = readConfig(text, file, process.env)
    for (const { folder } of Object.values(config.edges)) assertOfRoot(folder)
    return config
  }
}

/**
 * A command of root acts from now on as the user of the state folder, who could have put a link there for each file. Secrets are
 * read as that user, too. `asRoot`: what needs the rights of root. It is not called if the process keeps them, or never had them.
 */
export const configIn = async (file: string, asRoot?: () => Promise<void>): Promise<Config> =>
  (await opened(file))(asRoot)

/** The same for a command with two configurations. Both are read first: the user of the first state folder may not reach the second. */
export async function configsIn(first: string, second: string): Promise<readonly [Config, Config]> {
  const [one, other] = [await opened(first), await opened(second)]
  return [await one(), await other()]
}
