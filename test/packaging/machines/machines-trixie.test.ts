import { lifeOf } from './life.ts'

lifeOf('trixie')
