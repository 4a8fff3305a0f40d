-- shown: the parts of the user's home and of PATH that every command sees, and where else a project's files lie.
local fs = require "apsis.fs"
local home = require "apsis.project.home"

local shown = {}

-- Folders of the user's home that hold programs and libraries, and neither keys nor sources: visible, read-only.
shown.toolchains = { ".pyenv", ".rbenv", ".nodenv", ".nvm", ".volta", ".fnm", ".asdf", ".sdkman", ".rustup",
  ".cargo/bin", ".cargo/registry", ".cargo/git", ".ghcup", ".opam",
  ".juliaup", ".julia/artifacts", ".julia/bin", ".julia/compiled", ".julia/environments", ".julia/juliaup",
  ".julia/packages", ".julia/registries", ".bun/bin", ".bun/install", ".deno/bin", ".linuxbrew", ".nix-profile",
  ".local/bin", ".local/lib", ".local/pipx/venvs", ".local/share/uv/python", ".local/share/uv/tools",
  ".local/share/mise", ".local/share/pipx", ".local/share/pnpm", ".virtualenvs", "miniconda3", "miniforge3",
  "mambaforge", "anaconda3", "micromamba", ".luarocks/bin", ".luarocks/lib", ".luarocks/share", "go/bin", "go/pkg" }

-- Parts of /run, which is full of sockets of services: host names and, on NixOS, the programs.
shown.of_run = { "/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/run/current-system",
  "/run/opengl-driver" }

local function real(path) return path and path ~= "" and fs.realpath(path) or nil end

local function is_below(path, folder) return path == folder or path:sub(1, #folder + 1) == folder .. "/" end

-- What the programs of a PATH folder consist of: a whole virtual environment or node_modules, else the libraries beside
-- it; nothing if that contains a hidden path.
local function add_programs(list, path, hidden)
  list[#list + 1] = path
  local above = path:match "^(.*)/%.?bin$"
  for _, place in ipairs(above and hidden or {}) do
    if is_below(place, above) then return end
  end
  if not above then return end
  if fs.stat(above .. "/pyvenv.cfg") or fs.stat(above .. "/conda-meta") or above:find "/node_modules$" then
    list[#list + 1] = above
    return
  end
  for _, name in ipairs { "lib", "lib64", "libexec" } do list[#list + 1] = above .. "/" .. name end
end

-- Folders of PATH that commands would not see, such as a virtual environment in the project. Not the user's own ~/bin,
-- whose scripts may hold keys.
function shown.programs(hidden)
  local list, own = {}, real((home.dir() or "/nonexistent") .. "/bin")
  for folder in (os.getenv "PATH" or ""):gmatch "[^:]+" do
    local path, within, holds = real(folder), false, false
    for _, place in ipairs(path and hidden or {}) do
      within, holds = within or is_below(path, place), holds or is_below(place, path)
    end
    if within and not holds and path ~= own and (path:find "/[^/]*bin$" or path:find "/shims$") then
      add_programs(list, path, hidden)
    end
  end
  return list
end

-- Where else the project's files are: the repository's objects, borrowed ones too, and its other working trees.
function shown.repository(gitdir)
  if not gitdir then return {} end
  local common = (fs.read(gitdir .. "/commondir") or ""):match "^[^\n]+"
  common = common and real(common:sub(1, 1) == "/" and common or gitdir .. "/" .. common) or real(gitdir)
  local list = { gitdir, common, common:match "^(.+)/%.git$" }
  for _, name in ipairs(fs.list(common .. "/worktrees") or {}) do
    list[#list + 1] = (fs.read(common .. "/worktrees/" .. name .. "/gitdir") or ""):match "^([^\n]+)/%.git"
  end
  for line in (fs.read(common .. "/objects/info/alternates") or ""):gmatch "[^\n]+" do
    local objects = real(line:sub(1, 1) == "/" and line or common .. "/objects/" .. line)
    list[#list + 1] = objects
    list[#list + 1] = objects and objects:match "^(.+)/%.git/objects$"
  end
  return list
end

return shown
