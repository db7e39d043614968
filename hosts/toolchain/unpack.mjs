// Unpacks the toolchain that `npm ci` has put into this folder or into the one that is named, into its node_modules/.toolchain.
// Nothing of the system's is needed: a machine with Node and npm need not have xz.
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const folder = process.argv[2] ?? fileURLToPath(new URL('.', import.meta.url))
const require = createRequire(join(folder, 'package.json'))
const { xz } = require('@napi-rs/lzma')
const { Archive } = require('@napi-rs/tar')
const modules = join(folder, 'node_modules')
const name = readdirSync(join(modules, '@napi-rs')).find(entry => entry.startsWith('cross-toolchain-'))
const { toolchainPath: packed } = require(`@napi-rs/${name}`)

const to = join(modules, '.toolchain')
rmSync(to, { recursive: true, force: true })
new Archive(xz.decompressSync(readFileSync(packed))).unpack(to)
// npm brings it again when it is needed again.
rmSync(packed)
