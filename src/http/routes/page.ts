import { existsSync } from 'node:fs'
import { join } from 'node:path'
import fastifyStatic from '@fastify/static'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Problem } from '../../model/errors.ts'
import type { App } from '../app.ts'

/** Every path of the web page. The page selects the screen from the path. */
const SCREENS = [
  '/',
  '/hosts/:host',
  '/hosts/:host/details',
  '/network',
  '/certificates',
  '/activity',
  '/plan',
  '/plans',
  '/plans/:planId',
  '/plans/:planId/change',
  '/help',
]
const ASSET_NAME = /^[\w-]+\.[\w.]+$/
const A_YEAR_MS = 365 * 24 * 3600 * 1000

/** Call it before the routes that send files from the folder. The folder also has a compressed form of each file. */
export async function registerPage(app: App, folder: string): Promise<void> {
  await app.register(fastifyStatic, { root: folder, serve: false, preCompressed: true, suppressWarning: true })
}

/** index.html is revalidated on each request. Assets have a hash of their content in the name and are cached for a year. */
export function pageRoutes(app: App, folder: string): void {
  const screen = async (_request: unknown, reply: FastifyReply) => {
    if (!existsSync(join(folder, 'index.html'))) throw notBuilt()
    return reply.header('cache-control', 'no-cache').sendFile('index.html', { cacheControl: false })
  }
  const urls = SCREENS.flatMap((url) => (url === '/' ? [url] : [url, `${url}/`]))
  for (const url of urls) app.get(url, { schema: { hide: true } }, screen)

  app.get<{ Params: { file: string } }>('/assets/:file', { schema: { hide: true } }, async (request, reply) => {
    const { file } = request.params
    if (!ASSET_NAME.test(file) || !existsSync(join(folder, 'assets', file))) {
      throw new Problem('not_found', 'This path does not exist.')
    }
    return reply.sendFile(`assets/${file}`, { immutable: true, maxAge: A_YEAR_MS })
  })
}

/** The answer to a browser that opens an unknown address: the page, which says so. Other clients get a problem. */
export function notFoundPage(folder: string) {
  return ({ method, url, headers }: FastifyRequest, reply: FastifyReply): FastifyReply | undefined => {
    const isOpened = (method === 'GET' || method === 'HEAD') && /\btext\/html\b/.test(headers.accept ?? '')
    if (!isOpened || NO_PAGES.test(url) || !existsSync(join(folder, 'index.html'))) return undefined
    return reply.status(404).header('cache-control', 'no-store').sendFile('index.html', { cacheControl: false })
  }
}

/** What is for programs, or has files of its own. */
const NO_PAGES = /^\/(?:api|assets|docs|metrics|mcp|\.well-known)(?:[/?]|$)/

const notBuilt = () =>
  new Problem('not_found', 'The web page is not built in this installation.', {
    nextAction: 'Run npm run build. The API works without the page; /docs describes the API.',
  })
