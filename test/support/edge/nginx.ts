import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDaemon } from '../../../lab/daemon.ts'
import { findProgram } from '../../../lab/program.ts'
import { call } from '../http/call.ts'
import { tempFolder } from '../temp-folder.ts'

/** Where nginx writes for a moment: below a folder, or below its prefix. */
export const temporaryIn = (folder = ''): string =>
  ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((kind) => `${kind}_temp_path ${folder}temp-${kind};`)
    .join(' ')

/** What nginx writes goes to its prefix, so that it can be tested by any user. For the main and the http context. */
export const NOTHING_OF_ROOT = {
  main: 'pid nginx.pid; error_log stderr;',
  http: `access_log off; ${temporaryIn()}`,
}

/** Starts a real nginx with the given text in its http block. Resolves when `origin` answers. */
export async function startNginx(
  http: string,
  origin: string,
): Promise<{ readonly errorLog: string; stop(): Promise<void> }> {
  const folder = tempFolder()
  const path = (name: string) => join(folder.path, name)
  // A single process: a worker would drop root privileges and could not enter the folder.
  writeFileSync(
    path('nginx.conf'),
    `daemon off; master_process off; pid ${path('nginx.pid')}; error_log ${path('error.log')};
events {}
http { access_log off;
${temporaryIn(`${folder.path}/`)}
${http}
}`,
  )
  const daemon = await startDaemon({
    name: 'nginx',
    program: findProgram('nginx', 'nginx'),
    args: ['-e', path('error.log'), '-p', folder.path, '-c', path('nginx.conf')],
    logFile: path('output.log'),
    isReady: () =>
      call(origin, { path: '/livez', from: '127.0.0.1' }).then(
        () => true,
        () => false,
      ),
  })
  return {
    errorLog: path('error.log'),
    async stop() {
      await daemon.stop()
      folder[Symbol.dispose]()
    },
  }
}
