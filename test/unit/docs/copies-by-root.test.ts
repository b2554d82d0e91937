import { expect, test } from 'vitest'
import { pages } from './pages.ts'

/** Folders that belong to the service's user. A link that this user has put there leads root elsewhere. */
const ITS_FOLDERS = /\/etc\/drawbridge\/secrets\b|\/var\/lib\/drawbridge\b/

const AS_ITS_USER =
  /^(?:docker compose exec drawbridge )?setpriv --reuid drawbridge --regid drawbridge --clear-groups (?!setpriv)/

/** What root may do there: these follow no link within the folder. `drawbridge` looks at the owner of each path itself. */
const FOLLOWS_NO_LINK = /^(?:install -d|chown -R|useradd|drawbridge) /

/** The fences of diagrams and of files have no commands. */
const FENCES_OF_COMMANDS = /^```(sh|console)\n([\s\S]*?)^```$/gm

/** The commands of a block, each part of a pipe or a list by itself, without comments. */
function commandsIn(language: string, block: string): string[] {
  const lines = block.split('\n').map((line) => (language === 'console' ? line.replace(/^[#$] /, '') : line))
  return lines
    .map((line) => line.replace(/(?:^|\s+)#.*$/, ''))
    .flatMap((line) => line.match(/(?:'[^']*'|"[^"]*"|[^|;&'"])+/g) ?? [])
    .map((command) => command.trim())
}

const isByRoot = (command: string): boolean =>
  ITS_FOLDERS.test(command) && !AS_ITS_USER.test(command) && !FOLLOWS_NO_LINK.test(command)

test('no command of a document reads or writes as root what lies in a folder of the service', () => {
  const commands = pages().flatMap(({ path, text }) =>
    [...text.matchAll(FENCES_OF_COMMANDS)].flatMap(([, language = '', block = '']) =>
      commandsIn(language, block).map((command) => ({ path, command })),
    ),
  )
  expect(commands.filter(({ command }) => ITS_FOLDERS.test(command)).length).toBeGreaterThan(5)
  expect(commands.filter(({ command }) => isByRoot(command))).toEqual([])
})

test.each([
  ['sh', 'scp -rp /etc/drawbridge/secrets root@192.168.45.25:/etc/drawbridge/'],
  ['sh', 'cat x | ssh root@192.168.45.25 tar -C /etc/drawbridge/secrets -x'],
  ['sh', "docker compose exec drawbridge sh -c 'umask 077 && cat > /etc/drawbridge/secrets/store'"],
  ['sh', 'chown drawbridge: /etc/drawbridge/secrets/store'],
  ['sh', 'drawbridge serve --check; editor /var/lib/drawbridge/notes     # as root'],
  ['console', '# cp -p store.key /var/lib/drawbridge-edge/store.key'],
])('such a command is found in a block of %s: %s', (language, line) =>
  expect(commandsIn(language, `${line}\n`).filter(isByRoot)).toHaveLength(1),
)
