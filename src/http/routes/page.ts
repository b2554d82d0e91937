import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyReply } from 'fastify'
import { Problem } from '../../model/errors.ts'
import type { App } from '../app.ts'

/** Every address of the page. It finds out by itself which of its screens is meant. */
const SCREENS = ['/', '/hosts/:host', '/plan', '/plans', '/plans/:planId', '/help']
const ASSET_NAME = /^[\w-]+\.[\w.]+$/
const A_YEAR_MS = 365 * 24 * 3600 * 1000

/** Must be registered before the routes that send from the folder. Each file stands there beside its compressed form. */
export async function offerPage(app: App, folder: string): Promise<void> {
  await app.register(fastifyStatic, { root: folder, serve: false, preCompressed: true, suppressWarning: true })
}

/** The page itself is asked for again each time; what it loads is named by its content and never changes. */
export function pageRoutes(app: App, folder: string): void {
  const screen = async (_request: unknown, reply: FastifyReply) => {
    if (!existsSync(join(folder, 'index.html'))) throw notBuilt()
    return reply.header('cache-control', 'no-cache').sendFile('index.html', { cacheControl: false })
  }
  for (const url of SCREENS) app.get(url, { schema: { hide: true } }, screen)

  app.get<{ Params: { file: string } }>('/assets/:file', { schema: { hide: true } }, async (request, reply) => {
    const { file } = request.params
    if (!ASSET_NAME.test(file) || !existsSync(join(folder, 'assets', file))) {
      throw new Problem('not_found', 'There is nothing at this address.')
    }
    return reply.sendFile(`assets/${file}`, { immutable: true, maxAge: A_YEAR_MS })
  })
}

const notBuilt = () =>
  new Problem('not_found', 'The web page is not built in this installation.', {
    nextAction: 'Run npm run build; the API works without it, and /docs describes it.',
  })
