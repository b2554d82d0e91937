import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errorCode } from '../../primitives/durable-file.ts'
import { EdgeFault } from '../contract.ts'
import type { EdgeSettings } from '../settings.ts'
import { type Directive, directivesIn } from './text/directives.ts'
import { UnreadableText } from './text/tokens.ts'

/** The text of the administrator's main file. Rejects with `unavailable` when its http block does not include our folder. */
export async function readMainFile(settings: Pick<EdgeSettings, 'config' | 'folder'>): Promise<string> {
  const { config } = settings
  const text = readText(config)
  if (!readDirectives(text, config).some((directive) => includesOurs(directive, settings))) {
    throw new EdgeFault(
      'unavailable',
      `nginx does not include Drawbridge's folder. Add "include ${ourGlob(settings)};" to the http block of ${config}.`,
    )
  }
  return text
}

function readText(config: string): string {
  try {
    return readFileSync(config, 'utf8')
  } catch (error) {
    throw new EdgeFault(
      'unavailable',
      `The nginx configuration ${config} cannot be read (${errorCode(error)}). Check the path and the permissions.`,
    )
  }
}

/** Whether the directive is the include of Drawbridge's folder in the http block. */
export const includesOurs = (directive: Directive, settings: Pick<EdgeSettings, 'config' | 'folder'>): boolean =>
  directive.context.join() === 'http' && includePattern(directive, settings) === ourGlob(settings)

/** The absolute pattern of an include. Relative patterns start at the folder of the main file. */
const includePattern = ({ name, args }: Directive, { config }: Pick<EdgeSettings, 'config'>): string | undefined =>
  name === 'include' ? resolve(dirname(config), args[0] ?? '') : undefined

const ourGlob = ({ folder }: Pick<EdgeSettings, 'folder'>): string => join(folder, '*.conf')

function readDirectives(text: string, config: string): Directive[] {
  try {
    return directivesIn(text)
  } catch (error) {
    if (!(error instanceof UnreadableText)) throw error
    throw new EdgeFault(
      'config_broken',
      `The nginx configuration ${config} cannot be parsed: ${error.message}. Run "nginx -t" to find the error.`,
    )
  }
}
