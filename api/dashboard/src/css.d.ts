// The bundler accepts style sheets as modules.
declare module '*.css'
