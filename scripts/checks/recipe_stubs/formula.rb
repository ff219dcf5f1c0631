# SPDX-License-Identifier: Apache-2.0
# Runs the formula of packaging/homebrew without Homebrew: formula.rb FORMULA SOURCE PREFIX. Prints as JSON what it says of itself,
# and the commands of its installation. Of these it runs the first, which configures, on this system's libraries.
require "json"
require "open3"
require "pathname"

# What a formula is a class of.
class Formula
  @said = Hash.new { |hash, key| hash[key] = [] }
  class << self
    attr_reader :said

    def inherited(formula)
      super
      formula.instance_variable_set(:@said, Hash.new { |hash, key| hash[key] = [] })
    end

    %i[desc homepage url sha256 license].each do |word|
      define_method(word) { |value| said[word] << value }
    end

    def depends_on(name)
      said[:depends_on] << (name.is_a?(Hash) ? name.keys.first : name)
    end

    def uses_from_macos(name)
      said[:depends_on] << name
    end

    def test(&block)
      said[:test] << !block.nil?
    end
  end

  # A folder that files are installed to.
  class Folder < Pathname
    attr_reader :installed

    def install(*files)
      missing = files.reject { |file| File.exist?(file) }
      abort "the formula installs #{missing.join(", ")}, which the source archive lacks" unless missing.empty?
      @installed = files
    end
  end

  attr_reader :commands

  def initialize(prefix)
    @prefix = prefix
    @commands = []
  end

  def pkgshare
    Folder.new("#{@prefix}/share/patchfold")
  end

  def std_cmake_args
    ["-DCMAKE_INSTALL_PREFIX=#{@prefix}", "-DCMAKE_INSTALL_LIBDIR=lib", "-DCMAKE_BUILD_TYPE=Release",
     "-DCMAKE_FIND_FRAMEWORK=LAST", "-DCMAKE_VERBOSE_MAKEFILE=ON", "-Wno-dev"]
  end

  def system(*words)
    @commands << words
    return if @commands.size > 1

    output, status = Open3.capture2e(*words.map(&:to_s))
    abort "#{output}\nthis failed: #{words.join(" ")}" unless status.success?
    unused = output[/Manually-specified variables were not used.*/m]
    abort unused if unused && unused.match?(/PATCHFOLD_/)
  end
end

formula, source, prefix = ARGV
load File.expand_path(formula)
made = Patchfold.new(File.expand_path(prefix))
Dir.chdir(source) { made.install }
puts JSON.generate(Patchfold.said.merge(commands: made.commands))
