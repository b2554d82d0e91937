import { readFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { UsageError } from '../../terminal/usage-error.ts'
import { urlOnThisMachine } from './service-address.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * The address of the service: `--url`, then DRAWBRIDGE_URL, then `url` in the user's own file, then this machine. `signal` ends the
 * search there, which resolves with the likeliest address then.
 */
export async function serviceUrl(
  option: string | undefined,
  environment: Environment,
  signal?: AbortSignal,
): Promise<string> {
  if (option !== undefined) return checked(option, '--url')
  const variable = environment.DRAWBRIDGE_URL
  if (variable) return checked(variable, 'DRAWBRIDGE_URL')
  const { file, url } = await ownSettings(environment)
  return url === undefined ? await urlOnThisMachine(environment, { signal }) : checked(url, `url in ${file}`)
}

/** Who the user is, a name that the service checks: `--owner`, then DRAWBRIDGE_OWNER, then `owner` in the user's own file. Undefined: nobody has said it. */
export async function ownName(option: string | undefined, environment: Environment): Promise<string | undefined> {
  return option ?? (environment.DRAWBRIDGE_OWNER || (await ownSettings(environment)).owner)
}

const configFile = ({ XDG_CONFIG_HOME, HOME }: Environment): string =>
  join(XDG_CONFIG_HOME || join(HOME || homedir(), '.config'), 'drawbridge', 'config.yaml')

async function ownSettings(environment: Environment): Promise<{ file: string; url?: string; owner?: string }> {
  const file = configFile(environment)
  const text = textOf(file)
  if (text === undefined) return { file }
  // The YAML parser is slow to load, and most users have no such file.
  const [{ ConfigDocument }, { Type }] = await Promise.all([import('../../config/document.ts'), import('typebox')])
  const own = new ConfigDocument(text, file).read(
    Type.Object({
      url: Type.Optional(Type.String({ allowed: 'an address' })),
      owner: Type.Optional(Type.String({ allowed: 'a name such as team-web' })),
    }),
  )
  return { file, ...own }
}

function textOf(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw new UsageError(`${file} cannot be read (${code ?? 'unknown reason'}). Check its permissions.`)
  }
}

function checked(text: string, source: string): string {
  const url = URL.parse(text)
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new UsageError(`${source} is not the address of a service. Use a form such as http://192.168.45.23:8045.`)
  }
  if (url.username || url.password) {
    throw new UsageError(
      `${source} contains a user name or password. Remove it: the service identifies callers by their address.`,
    )
  }
  return url.origin
}
